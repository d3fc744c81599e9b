def complete(words, start)
  prefix = start.downcase
  hits = words.select { |word| word.start_with?(prefix) }
  shortest = hits.min_by { |word| word.size }
  [hits.size, shortest]
end

def longest_run(numbers)
  current = 0
  best = 0
  numbers.each_cons(2) do |left, right|
    current = right > left ? current + 1 : 0
    best = current if current > best
  end
  best
end
p complete(%w[stop start stay], "ST"), longest_run([1, 2, 3, 1, 5])
