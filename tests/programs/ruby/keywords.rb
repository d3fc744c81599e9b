def area(width:, height: width, **rest)
  size = width * height
  size += rest.size
  size
end

def shorthand
  width = 3
  height = 4
  extra = { width:, height: }
  total = area(width:, height:) + area(**extra) + area(width: height)
  [total, extra]
end
p shorthand
