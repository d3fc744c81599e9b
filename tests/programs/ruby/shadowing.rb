def shadow(x)
  y = 10
  inner = [1, 2].map { |x| x + y }
  [3].each { |a, b = y, *c| y = a }
  add = ->(x, y = x) { x + y }
  add_kept = lambda do |z|
    y += z
    x * y
  end
  [x, y, inner, add.call(4), add_kept.(1), y]
end
p shadow(5)
