class Account
  attr_accessor :balance, :owner

  def initialize
    @balance = 7
    @owner = "me"
  end

  def report
    before = balance
    balance = 100 if before > 50
    [before, balance, self.balance]
  end

  def change
    amount = 3
    self.balance = balance + amount
    owner = "you" if owner.nil?
    [balance, owner, self.owner]
  end

  def count(n) = n * 2

  def twice
    count = 4
    count(count) + count
  end
end
account = Account.new
p account.report, account.change, account.twice
