# frozen_string_literal: true

require_relative 'helper'

# Where the C library is looked for.
class LibraryTest < DatabaseTest
  def library
    File.expand_path(LevelDB.library_path)
  end

  def find(environment, gem_directory)
    LevelDB::Library.find(environment: environment, gem_directory: gem_directory)
  end

  # A source tree that contains the gem, and the library in these directories.
  def tree(*profiles)
    FileUtils.mkdir_p(File.join(@directory, 'tree', 'crates', 'capi'))
    FileUtils.touch(File.join(@directory, 'tree', 'crates', 'capi', 'Cargo.toml'))
    profiles.each_with_index do |profile, index|
      directory = File.join(@directory, 'tree', 'target', profile)
      FileUtils.mkdir_p(directory)
      # Removed first, not overwritten: it may be in use.
      FileUtils.rm_f(File.join(directory, 'libterrace.so'))
      FileUtils.cp(library, File.join(directory, 'libterrace.so'))
      FileUtils.touch(File.join(directory, 'libterrace.so'), mtime: Time.now - 100 + index)
    end
    File.join(@directory, 'tree', 'ruby')
  end

  def test_the_environment_comes_first
    assert_equal library, find({ 'TERRACE_LIB' => library }, tree('release')).path
  end

  def test_what_the_environment_names_is_not_replaced
    error = assert_raises(LevelDB::LibraryNotFoundError) { find({ 'TERRACE_LIB' => '/no/such' }, tree('release')) }
    assert_match(%r{^  /no/such \(TERRACE_LIB\): .*No such file}, error.message)
    refute_match(%r{target/release}, error.message)
  end

  def test_the_gems_directory_comes_second
    gem_directory = tree('release')
    FileUtils.mkdir_p(File.join(gem_directory, 'vendor'))
    FileUtils.cp(library, File.join(gem_directory, 'vendor', 'libterrace.so'))
    assert_equal File.join(gem_directory, 'vendor', 'libterrace.so'), find({}, gem_directory).path
  end

  def test_the_newest_build_comes_third
    assert_match(%r{/target/debug/}, find({}, tree('release', 'debug')).path)
    assert_match(%r{/target/release/}, find({ 'TERRACE_LIB' => '' }, tree('debug', 'release')).path)
    FileUtils.rm(File.join(@directory, 'tree', 'target', 'release', 'libterrace.so'))
    assert_match(%r{/target/debug/}, find({}, File.join(@directory, 'tree', 'ruby')).path)
  end

  def test_a_directory_that_is_no_source_tree_is_not_looked_in
    FileUtils.rm_rf(File.join(@directory, 'tree', 'crates')) if tree('release')
    found = begin
      find({}, File.join(@directory, 'tree', 'ruby')).path
    rescue LevelDB::LibraryNotFoundError => e
      e.message
    end
    refute_match(/the build's directory/, found)
    refute_match(%r{target/release}, found.lines.first)
  end

  def test_the_systems_path_comes_last
    lib = File.join(@directory, 'lib')
    FileUtils.mkdir_p(lib)
    FileUtils.cp(library, File.join(lib, 'libterrace.so.0'))
    FileUtils.cp_r(File.expand_path('../lib', __dir__), File.join(@directory, 'alone'))
    output, status = Open3.capture2e({ 'LD_LIBRARY_PATH' => lib, 'TERRACE_LIB' => nil }, RbConfig.ruby,
                                     '-I', File.join(@directory, 'alone'), '-rleveldb', '-e', 'puts LevelDB.library_path')
    assert status.success?, output
    assert_equal "libterrace.so.0\n", output
  end

  def test_nothing_found_says_where_it_looked_and_what_to_do
    FileUtils.touch(File.join(@directory, 'empty.so'))
    output, status = run_ruby("require 'leveldb'", environment: { 'TERRACE_LIB' => File.join(@directory, 'empty.so') })
    refute status.success?
    assert_match(/LibraryNotFoundError/, output)
    assert_match(%r{/empty\.so \(TERRACE_LIB\): .*file too short}, output)
    assert_match(/cargo build --release --package terrace-capi/, output)
    assert_operator LevelDB::LibraryNotFoundError, :<, LoadError
  end

  def test_a_library_of_something_else_is_refused
    fiddle = $LOADED_FEATURES.grep(/fiddle\.so\z/).first
    error = assert_raises(LevelDB::LibraryNotFoundError) { find({ 'TERRACE_LIB' => fiddle }, @directory) }
    assert_match(/leveldb_open/, error.message)
  end
end
