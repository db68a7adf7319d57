# frozen_string_literal: true

require_relative 'helper'

# The gem as a file: it can be built, installed outside the source tree, and used from there.
class GemTest < DatabaseTest
  ROOT = File.expand_path('..', __dir__)

  def gem!(*arguments, environment: {}, directory: ROOT)
    output, status = Open3.capture2e(environment, RbConfig.ruby, '-S', 'gem', *arguments, chdir: directory)
    assert status.success?, output
    output
  end

  def test_the_gem_is_built_installed_and_used
    built = File.join(@directory, 'built.gem')
    gem!('build', 'terrace-leveldb.gemspec', '--output', built)
    home = File.join(@directory, 'gems')
    gem!('install', '--local', '--no-document', built, environment: { 'GEM_HOME' => home }, directory: @directory)
    program = <<~RUBY
      require 'leveldb'
      puts $LOADED_FEATURES.grep(/leveldb.db/).first
      LevelDB::DB.open('fruit') { |db| db['apple'] = 'red'; puts db.to_a.inspect }
    RUBY
    environment = { 'GEM_HOME' => home, 'TERRACE_LIB' => File.expand_path(LevelDB.library_path) }
    output, status = Open3.capture2e(environment, RbConfig.ruby, '-e', program, chdir: @directory)
    assert status.success?, output
    path, entries = output.lines
    assert path.start_with?(home), path
    assert_equal %([["apple", "red"]]\n), entries
  end

  def test_the_sources_are_free_of_warnings
    Dir[File.join(ROOT, '{lib,test}/**/*.rb'), File.join(ROOT, '*.gemspec')].each do |file|
      output, = Open3.capture2e(RbConfig.ruby, '-wc', file)
      assert_equal "Syntax OK\n", output, file
    end
  end

  def test_the_gem_has_the_files_of_its_directory
    specification = Gem::Specification.load(File.join(ROOT, 'terrace-leveldb.gemspec'))
    sources = Dir['lib/**/*.rb', base: ROOT]
    assert_equal sources.sort, (specification.files.grep(/^lib/)).sort
    assert_equal LevelDB::VERSION, specification.version.to_s
    cargo = File.read(File.join(ROOT, '..', 'Cargo.toml'))
    assert_equal cargo[/^version = "(.*)"/, 1], LevelDB::VERSION, "Terrace's version"
  end
end
