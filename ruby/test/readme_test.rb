# frozen_string_literal: true

require_relative 'helper'

# The examples of the README do what they say.
class ReadmeTest < DatabaseTest
  README = File.expand_path('../README.md', __dir__)
  # `expression # => what inspect says of it`
  CLAIM = /\A(?<indentation>\s*)(?<expression>\S.*?)\s+# => (?<result>.*)\z/

  def test_every_claim_of_the_examples_is_true
    @claims = 0
    examples = File.read(README).scan(/^```ruby\n(.*?)^```$/m)
    refute_empty examples
    receiver = Object.new
    test = self
    receiver.define_singleton_method(:claim) { |expected, actual, line| test.check(expected, actual, line) }
    scope = receiver.instance_eval { binding }
    Dir.chdir(Dir.mktmpdir(nil, @directory)) { examples.each { |(example)| scope.eval(checking(example), README) } }
    assert_operator @claims, :>=, 30
  ensure
    scope&.local_variable_get(:db)&.close if scope&.local_variable_defined?(:db)
  end

  def check(expected, actual, line)
    @claims += 1
    assert_equal expected, actual.inspect, line
    actual
  end

  # The example with each claim turned into a call.
  def checking(example)
    example.lines(chomp: true).map do |line|
      claim = CLAIM.match(line) or next line
      assignment, expression = claim[:expression].match(/\A(\w+ = )?(.*)\z/).captures
      "#{claim[:indentation]}#{assignment}claim(#{claim[:result].dump}, (#{expression}), #{line.dump})"
    end.join("\n")
  end
end
