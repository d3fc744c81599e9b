class Maker
  def build(name)
    value = 3
    self.class.send(:define_method, name) { |given| given + value }
    def helper(value)
      inner = value * 2
      inner
    end
    class << self
      def single
        value = 11
        value
      end
    end
    [send(name, 4), helper(5), single, value]
  end
end
p Maker.new.build(:added)
