def parse(line)
  command, *rest = line.split
  flags, names = rest.partition { |text| text.start_with?("-") }
  switches = flags.map { |flag| flag.delete_prefix("-").to_sym }
  [command, switches, names]
end

def table(line)
  pairs = line.split(";").map { |text| text.split("=") }
  sorted = pairs.sort_by { |name, _| name }
  widths = sorted.map { |name, value| name.size + value.size }
  [sorted.to_h, widths.sum]
end
p parse("run -v x -q"), table("b=2;a=10")
