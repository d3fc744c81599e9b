def index_of(pages)
  docs = pages.map(&:strip)
  words = docs.flat_map { |text| text.split }
  counts = words.each_with_object(Hash.new(0)) { |word, table| table[word] += 1 }
  [docs.size, counts]
end

def newest(lines)
  now = lines.size
  age = nil
  lines.each_with_index { |text, place| age = now - place if text.start_with?("n") }
  [now, age]
end
p index_of([" a b", "b "]), newest(%w[old new older])
