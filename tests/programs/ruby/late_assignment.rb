def fallback
  "method"
end

def other
  "called"
end

def modifiers
  first = fallback
  (found = other) if fallback
  result = []
  result << value while (value = (value || 0) + 1) < 3
  result
rescue NameError => problem
  problem.class.to_s + first.to_s + found.to_s
end

def leaking
  [1].each { |number| inside = number }
  defined?(inside).inspect
end
p modifiers, leaking
