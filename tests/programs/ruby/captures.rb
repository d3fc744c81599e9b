def parse(line)
  if /(?<key>\w+)=(?<value>\d+)/ =~ line
    number = value.to_i
    return [key, number + 1]
  end
  found = line.match(/(?<word>[a-z]+)/)
  word = found[:word]
  [word, key.inspect]
end
p parse("a=4"), parse("zz")
