# frozen_string_literal: true

require_relative 'helper'

# Where the C library is looked for.
class LibraryTest < DatabaseTest
  def library
    File.expand_path(LevelDB.library_path)
  end

  def find(environment, gem_folder)
    LevelDB::Library.find(environment: environment, gem_folder: gem_folder)
  end

  # A source tree with the gem in it, and the library in so many of its folders.
  def tree(*profiles)
    FileUtils.mkdir_p(File.join(@folder, 'tree', 'crates', 'capi'))
    FileUtils.touch(File.join(@folder, 'tree', 'crates', 'capi', 'Cargo.toml'))
    profiles.each_with_index do |profile, index|
      folder = File.join(@folder, 'tree', 'target', profile)
      FileUtils.mkdir_p(folder)
      # Not written over: it may be in use.
      FileUtils.rm_f(File.join(folder, 'libterrace.so'))
      FileUtils.cp(library, File.join(folder, 'libterrace.so'))
      FileUtils.touch(File.join(folder, 'libterrace.so'), mtime: Time.now - 100 + index)
    end
    File.join(@folder, 'tree', 'ruby')
  end

  def test_the_environment_comes_first
    assert_equal library, find({ 'TERRACE_LIB' => library }, tree('release')).path
  end

  def test_what_the_environment_names_is_not_replaced
    error = assert_raises(LevelDB::LibraryNotFoundError) { find({ 'TERRACE_LIB' => '/no/such' }, tree('release')) }
    assert_match(%r{^  /no/such \(TERRACE_LIB\): .*No such file}, error.message)
    refute_match(%r{target/release}, error.message)
  end

  def test_the_gems_folder_comes_second
    gem_folder = tree('release')
    FileUtils.mkdir_p(File.join(gem_folder, 'vendor'))
    FileUtils.cp(library, File.join(gem_folder, 'vendor', 'libterrace.so'))
    assert_equal File.join(gem_folder, 'vendor', 'libterrace.so'), find({}, gem_folder).path
  end

  def test_the_newest_build_comes_third
    assert_match(%r{/target/debug/}, find({}, tree('release', 'debug')).path)
    assert_match(%r{/target/release/}, find({ 'TERRACE_LIB' => '' }, tree('debug', 'release')).path)
    FileUtils.rm(File.join(@folder, 'tree', 'target', 'release', 'libterrace.so'))
    assert_match(%r{/target/debug/}, find({}, File.join(@folder, 'tree', 'ruby')).path)
  end

  def test_a_folder_that_is_no_source_tree_is_not_looked_in
    FileUtils.rm_rf(File.join(@folder, 'tree', 'crates')) if tree('release')
    found = begin
      find({}, File.join(@folder, 'tree', 'ruby')).path
    rescue LevelDB::LibraryNotFoundError => e
      e.message
    end
    refute_match(/the build's folder/, found)
    refute_match(%r{target/release}, found.lines.first)
  end

  def test_the_systems_path_comes_last
    lib = File.join(@folder, 'lib')
    FileUtils.mkdir_p(lib)
    FileUtils.cp(library, File.join(lib, 'libterrace.so.0'))
    FileUtils.cp_r(File.expand_path('../lib', __dir__), File.join(@folder, 'alone'))
    output, status = Open3.capture2e({ 'LD_LIBRARY_PATH' => lib, 'TERRACE_LIB' => nil }, RbConfig.ruby,
                                     '-I', File.join(@folder, 'alone'), '-rleveldb', '-e', 'puts LevelDB.library_path')
    assert status.success?, output
    assert_equal "libterrace.so.0\n", output
  end

  def test_nothing_found_says_where_it_looked_and_what_to_do
    FileUtils.touch(File.join(@folder, 'empty.so'))
    output, status = run_ruby("require 'leveldb'", environment: { 'TERRACE_LIB' => File.join(@folder, 'empty.so') })
    refute status.success?
    assert_match(/LibraryNotFoundError/, output)
    assert_match(%r{/empty\.so \(TERRACE_LIB\): .*file too short}, output)
    assert_match(/cargo build --release --package terrace-capi/, output)
    assert_operator LevelDB::LibraryNotFoundError, :<, LoadError
  end

  def test_a_library_of_something_else_is_refused
    fiddle = $LOADED_FEATURES.grep(/fiddle\.so\z/).first
    error = assert_raises(LevelDB::LibraryNotFoundError) { find({ 'TERRACE_LIB' => fiddle }, @folder) }
    assert_match(/leveldb_open/, error.message)
  end
end
