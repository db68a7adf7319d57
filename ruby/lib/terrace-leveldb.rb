# frozen_string_literal: true

# Bundler requires this file, because it has the gem's name.
require_relative 'leveldb'
