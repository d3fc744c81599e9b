def table(rows)
  name = "n"
  size = rows.size
  row = { name: name, :size => size, "key" => name, size => :name }
  names = rows.map(&:to_s)
  to_s = rows.inspect
  send(:format, "%s %s", row[:name], names.join) + to_s + row[size].to_s
end
p table([1, 2])
