# frozen_string_literal: true

require_relative 'lib/leveldb/version'

Gem::Specification.new do |spec|
  spec.name = 'terrace-leveldb'
  spec.version = LevelDB::VERSION
  spec.authors = ['The Terrace authors']
  spec.summary = 'LevelDB databases in Ruby'
  spec.description = 'An embedded, ordered key/value database with LevelDB\'s files, over the C library of Terrace or of ' \
                     'LevelDB. Nothing is compiled when it is installed.'
  spec.license = 'MIT'
  spec.required_ruby_version = '>= 3.1'
  spec.require_paths = ['lib']
  spec.metadata = { 'rubygems_mfa_required' => 'true' }

  # The C library, where it was put here: the gem is then for one platform.
  libraries = Dir['vendor/libterrace.*', base: __dir__]
  spec.platform = Gem::Platform::CURRENT unless libraries.empty?
  spec.files = Dir['lib/**/*.rb', base: __dir__] + %w[README.md LICENSE] + libraries

  # A part of Ruby until 3.4, a gem that comes with it from 3.5 on.
  spec.add_dependency 'fiddle', '~> 1.1'
end
