def x(*given)
  "method#{given}"
end

def spaced
  n = 7
  y = 2
  z = n -1
  list = [5, 6]
  picked = list [1]
  m = n %(y + 1)
  [z, picked, m]
end

def called
  x = 3
  [x, x(1), x.succ, self.x]
end
p spaced, called
