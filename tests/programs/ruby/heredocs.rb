def letter(name)
  count = 2
  greeting = <<~TEXT + name
    Dear #{name}, count #{count}
      #{[1, 2].map { |count| count * 2 }.join(",")}
  TEXT
  raw = <<~'RAW'
    #{count} stays
  RAW
  both = [<<~A, <<~B, count += 1]
    one #{count}
  A
    two #{count}
  B
  [greeting, raw, both]
end
p letter("Ann")
