def walk(limit)
  result = []
  for number, letter in [[1, "a"], [2, "b"]] do
    result << "#{number}#{letter}"
  end
  index = 0
  while index < limit
    index += 1
    next if index.odd?
    result << index
  end
  begin
    index -= 1
  end while index > 1
  1.upto(2) { |step| result << step * index }
  limit.times.each_slice(2) { |pair| result << pair.sum }
  [result, number, letter, index]
end
p walk(4)
