def totals(rows)
  sum = 0
  seen = []
  rows.each_with_index do |row, place|
    value = row * 2
    sum += value
    seen << "#{place}:#{value}"
  end
  rows.each { |row; sum| sum = row }
  doubled = rows.map { |value| value + sum }
  [sum, seen, doubled]
end
p totals([1, 2, 3])
