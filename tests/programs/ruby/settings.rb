class Settings
  DEFAULT = { color: "red", size: 3 }.freeze

  def initialize(given = {})
    @given = given
  end

  def lookup(name)
    setting = @given[name]
    fallback = DEFAULT.fetch(name) { |missing| "no #{missing}" }
    setting.nil? ? fallback : setting
  end

  def each_entry
    DEFAULT.each_pair do |entry, value|
      changed = lookup(entry) != value
      yield entry, changed
    end
  end

  def summary
    entry = []
    total = 0
    each_entry do |name, changed|
      total += 1
      entry << "#{name}#{changed ? "*" : ""}"
    end
    [entry, total]
  end
end
settings = Settings.new({ size: 4 })
p settings.lookup(:color), settings.lookup(:other), settings.summary
