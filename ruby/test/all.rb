# frozen_string_literal: true

# Every test of the gem: `ruby -w test/all.rb`.
Dir[File.join(__dir__, '*_test.rb')].sort.each { |file| require file }
