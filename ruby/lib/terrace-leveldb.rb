# frozen_string_literal: true

# What Bundler requires, by the gem's name.
require_relative 'leveldb'
