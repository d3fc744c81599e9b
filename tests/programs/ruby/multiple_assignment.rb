def swap(pair)
  left, right = pair
  left, right = right, left
  (one, (two, *three)), four = [[1, [2, 3, 4]], 5]
  *init, last = init_values
  total = count = 0
  count += 1 until count > 3
  memo ||= left
  memo &&= memo + 1
  values = [0, 0]
  values[one], other = 8, 9
  [left, right, two, three, four, init, last, total, count, memo, values, other]
end

def init_values = [7, 8, 9]
p swap([1, 2])
