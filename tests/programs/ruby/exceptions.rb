def attempt(input)
  log = []
  tries = 0
  begin
    tries += 1
    value = Integer(input)
    log << value
  rescue ArgumentError, TypeError => error
    log << error.class
    input = "4"
    retry if tries < 2
  else
    log << "else #{value}"
  ensure
    log << tries
  end
  answer = (raise "x" rescue "rescued")
  [log, answer]
rescue => problem
  problem.message
end
p attempt("7"), attempt("z")
