def each_pair_of(items)
  previous = nil
  items.each do |item|
    yield previous, item if previous
    previous = item
  end
end

def gather(items, &block)
  found = []
  each_pair_of(items) { |left, right| found << block.call(left, right) }
  handler = block || proc { |value| value }
  extra = found.each_with_object({}) { |value, memo| memo[value] = handler.arity }
  [found, extra]
end
p gather([1, 2, 3]) { |a, b| a * b }
