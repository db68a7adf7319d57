# frozen_string_literal: true

$LOAD_PATH.unshift File.expand_path('../lib', __dir__)

require 'fileutils'
require 'leveldb'
require 'minitest/autorun'
require 'open3'
require 'rbconfig'
require 'tmpdir'

# Whether tests take their short form, which does less of the same.
SHORT = ENV['TERRACE_SHORT'] == '1'

# What the tests share: each has a directory, and a database in it.
class DatabaseTest < Minitest::Test
  def setup
    @directory = Dir.mktmpdir
    @path = File.join(@directory, 'db')
    @db = LevelDB::DB.new(@path)
  end

  def teardown
    @db.close
    FileUtils.rm_rf(@directory)
  end

  def terrace?
    !LevelDB.terrace_version.nil?
  end

  def reopen(options = {})
    @db.close
    @db = LevelDB::DB.new(@path, options)
  end

  # How many iterators and snapshots of the database the library holds.
  def held(database = @db)
    database.handle.instance_variable_get(:@children).size
  end

  # Runs Ruby with the gem in a process of its own. Returns both outputs and the status.
  def run_ruby(program, *arguments, environment: {})
    lib = File.expand_path('../lib', __dir__)
    Open3.capture2e(environment, RbConfig.ruby, '-w', "-I#{lib}", '-e', program, *arguments)
  end

  # The same, but it must succeed. Returns the output.
  def run_ruby!(program, *arguments, environment: {})
    output, status = run_ruby(program, *arguments, environment: environment)
    assert status.success?, output
    output
  end
end
