require "erb"

def render(title)
  items = [1, 2]
  template = "<%= title %>:<%= items.sum %>"
  ERB.new(template).result(binding)
end

def hidden(title)
  rows = [4, 5]
  maker = Object.const_get("E" + "RB")
  maker.new("<%= title %>:<%= ro" + "ws.sum %>").result(binding)
end

def evaluated(left)
  right = 5
  eval("left + ri" + "ght")
end

def listed
  alpha = 1
  beta = alpha + 1
  [local_variables, beta]
end

def instance_text
  secret = 42
  "".instance_eval("sec" + "ret + 1")
end

def plain
  alpha = 2
  "abc".instance_eval { alpha + size }
end
p render("T"), hidden("H"), evaluated(2), listed, instance_text, plain
