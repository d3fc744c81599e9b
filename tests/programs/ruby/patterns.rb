def classify(data)
  kept = 2
  case data
  in Integer => number if number > kept
    "big #{number}"
  in [first, *rest]
    "list #{first} #{rest}"
  in { name:, age: Integer => years, **others }
    "#{name} #{years} #{others}"
  in ^kept
    "kept"
  in String | Symbol => text
    text.to_s
  end
end

def parts(config)
  config => { host:, port: port_number }
  matched = config in { host: String => domain }
  [host, port_number, matched, domain]
end
p classify(9), classify([1, 2]), classify({ name: "a", age: 3, x: 1 }), classify(2), classify(:s)
p parts({ host: "h", port: 80 })
