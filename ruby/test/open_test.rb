# frozen_string_literal: true

require_relative 'helper'
require 'json'
require 'pathname'

# Opening, its options, and operations on a database that is not open.
class OpenTest < DatabaseTest
  def setup
    super
    @db.close
  end

  def test_new_makes_a_database_unless_told_otherwise
    other = File.join(@directory, 'other')
    assert_raises(LevelDB::MissingDatabaseError) { LevelDB::DB.new(other, create_if_missing: false) }
    LevelDB::DB.new(other).close
    assert_raises(LevelDB::DatabaseExistsError) { LevelDB::DB.new(other, error_if_exists: true) }
  end

  def test_make_does_not_unless_told
    other = File.join(@directory, 'other')
    error = assert_raises(LevelDB::Error) { LevelDB::DB.make(other, {}) }
    assert_match(/does not exist/, error.message)
    db = LevelDB::DB.make(other, create_if_missing: true)
    assert db.options.create_if_missing
    db.close!
    db = LevelDB::DB.make(other)
    refute db.options.create_if_missing
    db.close
  end

  def test_create_and_load
    assert_raises(LevelDB::DatabaseExistsError) { LevelDB::DB.create(@path) }
    assert_raises(LevelDB::MissingDatabaseError) { LevelDB::DB.load(File.join(@directory, 'other')) }
    LevelDB::DB.load(@path).close
    LevelDB::DB.create(File.join(@directory, 'other')).close
  end

  def test_open_closes_after_its_block
    kept = nil
    result = LevelDB::DB.open(@path) do |db|
      kept = db
      db['a'] = '1'
    end
    assert_equal '1', result
    assert_predicate kept, :closed?
    assert_raises(RuntimeError) { LevelDB::DB.open(@path) { raise 'no' } }
    LevelDB::DB.open(@path).close
  end

  def test_paths_of_any_kind
    LevelDB::DB.open(Pathname.new(@directory) + 'clé d’or') { |db| db['a'] = '1' }
    LevelDB::DB.open(File.join(@directory, 'clé d’or')) { |db| assert_equal '1', db['a'] }
    assert_raises(ArgumentError) { LevelDB::DB.new("#{@path}\0x") }
    assert_raises(TypeError) { LevelDB::DB.new(:symbol) }
    assert_equal @path, @db.pathname
    assert_equal @path, @db.path
  end

  def test_a_second_opening_is_locked_out
    LevelDB::DB.open(@path) do
      output = run_ruby!(<<~RUBY, @path)
        require 'leveldb'
        begin
          LevelDB::DB.new(ARGV[0])
        rescue LevelDB::LockedError
          puts 'locked'
        end
      RUBY
      assert_equal "locked\n", output
      # This comes last, because it makes LevelDB lose its lock.
      error = assert_raises(LevelDB::LockedError) { LevelDB::DB.new(@path) }
      assert_kind_of LevelDB::IOError, error
    end
  end

  def test_what_the_system_refuses
    FileUtils.touch(File.join(@directory, 'file'))
    assert_raises(LevelDB::IOError) { LevelDB::DB.new(File.join(@directory, 'file', 'db')) }
  end

  def test_defaults
    options = @db.options
    assert options.create_if_missing
    refute options.error_if_exists
    refute options.paranoid_checks
    assert_equal 4 << 20, options.write_buffer_size
    assert_equal 1000, options.max_open_files
    assert_nil options.block_cache_size
    assert_equal 4096, options.block_size
    assert_equal 16, options.block_restart_interval
    assert_equal 2 << 20, options.max_file_size
    assert_equal LevelDB::CompressionType::SnappyCompression, options.compression
    assert_nil options.bloom_filter_bits_per_key
    assert_equal Encoding::BINARY, options.encoding
    assert options.map_tables
    assert options.map_log
  end

  # crates/engine/options.json describes the options for all languages.
  DESCRIBED = JSON.parse(File.read(File.expand_path('../../crates/engine/options.json', __dir__), encoding: 'UTF-8'))
                  .fetch('options').select { |option| option['ruby'].is_a?(Hash) }.freeze

  def test_there_are_the_options_that_are_described
    described = DESCRIBED.map { |option| option['ruby'].fetch('name') }
    assert_equal described.sort, @db.options.instance_variables.map { |name| name.to_s.delete_prefix('@') }.sort
    described.each { |name| assert_respond_to @db.options, name }
  end

  def test_numbers_are_checked
    numbers = DESCRIBED.select { |option| option['unit'] }.map { |option| option['ruby'].fetch('name').to_sym }
    assert_includes numbers, :write_buffer_size
    numbers.each do |name|
      ['1234', true, 1.5].each { |wrong| assert_raises(TypeError, name) { LevelDB::DB.new(@path, name => wrong) } }
      [-1, 1 << 40].each { |wrong| assert_raises(ArgumentError, name) { LevelDB::DB.new(@path, name => wrong) } }
    end
  end

  def test_every_option_reaches_the_database
    given = { paranoid: true, write_buffer_size: 1 << 20, max_open_files: 200, block_cache_size: 1 << 20,
              block_size: 8192, block_restart_interval: 8, max_file_size: 1 << 20,
              compression: LevelDB::CompressionType::NoCompression, bloom_filter_bits_per_key: 10 }
    LevelDB::DB.open(@path, given) do |db|
      assert db.options.paranoid_checks
      assert_equal given.except(:paranoid), given.except(:paranoid).to_h { |name, _| [name, db.options.public_send(name)] }
      2000.times { |i| db[i.to_s] = 'x' * 1000 }
      db.compact
      assert_operator db.approximate_size('', 'x'), :>, 2_000_000, 'nothing is compressed'
      assert_equal 'x' * 1000, db['1999']
      assert_nil db['2000']
      # 1 MiB a table.
      assert_operator Dir[File.join(@path, '*.{ldb,sst}')].size, :>=, 2
    end
    LevelDB::DB.open(@path) do |db|
      2000.times { |i| db[i.to_s] = 'x' * 1000 }
      db.compact
      assert_operator db.approximate_size('', 'x'), :<, 1_000_000, 'compressed by default'
    end
  end

  def test_options_that_make_no_sense
    [{ compression: '1234' }, { compression: 999 }, { encoding: 1 }].each do |wrong|
      assert_raises(TypeError, wrong) { LevelDB::DB.new(@path, wrong) }
    end
    [{ no_such_option: 1 }, { compression: :lzma }, { encoding: 'no such' }].each do |wrong|
      assert_raises(ArgumentError, wrong) { LevelDB::DB.new(@path, wrong) }
    end
    LevelDB::DB.new(@path, nil.to_h).close
  end

  def test_destroy
    LevelDB::DB.open(@path) { |db| assert_raises(LevelDB::LockedError) { LevelDB::DB.destroy(db.path) } }
    assert LevelDB::DB.destroy(@path)
    assert_raises(LevelDB::MissingDatabaseError) { LevelDB::DB.load(@path) }
    assert LevelDB::DB.destroy(@path), 'no failure if there is none'
  end

  def test_damage_is_an_error_and_repair_mends_it
    LevelDB::DB.open(@path) { |db| 100.times { |i| db[i.to_s] = 'x' * 100 } }
    File.write(File.join(@path, 'CURRENT'), "MANIFEST-999999\n")
    assert_raises(LevelDB::Error) { LevelDB::DB.new(@path) }
    assert LevelDB::DB.repair(@path)
    LevelDB::DB.open(@path) { |db| assert_equal 100, db.size }
  end

  def test_a_damaged_block_is_a_corruption
    LevelDB::DB.open(@path, compression: :none) do |db|
      500.times { |i| db[format('%05d', i)] = 'x' * 100 }
      db.compact
    end
    table = Dir[File.join(@path, '*.{ldb,sst}')].max
    File.open(table, 'r+b') do |file|
      file.seek(50)
      file.write('damage')
    end
    LevelDB::DB.open(@path) do |db|
      assert_raises(LevelDB::CorruptionError) { db.get('00000', verify_checksums: true) }
      seen = 0
      assert_raises(LevelDB::CorruptionError) { db.each(verify_checksums: true) { seen += 1 } }
      # LevelDB continues after the damaged block, and reports it at the end.
      assert_equal 0, seen if terrace?
      assert_operator seen, :<, 500
      assert_equal 0, held(db)
      assert_equal 'x' * 100, db['00499']
    end
  end

  def test_messages_become_kinds_of_errors
    { 'NotFound: x' => LevelDB::NotFoundError, 'Corruption: x' => LevelDB::CorruptionError,
      'Not implemented: x' => LevelDB::NotSupportedError, 'Invalid argument: x' => LevelDB::InvalidArgumentError,
      'IO error: x' => LevelDB::IOError, 'IO error: lock /db/LOCK: already held by process' => LevelDB::LockedError,
      'something else' => LevelDB::Error }.each do |message, type|
      error = LevelDB::Error.for(message)
      assert_instance_of type, error
      assert_equal message, error.message
    end
    assert_operator LevelDB::IOError, :<, LevelDB::Error
    assert_operator LevelDB::Error, :<, StandardError
  end

  def test_what_only_terrace_can_do
    return only_terrace_can unless terrace?

    LevelDB::DB.open(@path) do |db|
      db['a'] = '1'
      db.flush
      assert_equal '1', db.property('leveldb.num-files-at-level0')
      db.verify
      db.checkpoint(File.join(@directory, 'copy'))
      LevelDB::DB.open(@path, read_only: true) do |reader|
        assert_equal '1', reader['a']
        assert_raises(LevelDB::Error) { reader['a'] = '2' }
      end
    end
    LevelDB::DB.open(File.join(@directory, 'copy'), compression: :zstd) { |copy| assert_equal [%w[a 1]], copy.to_a }
    assert_match(/\A\d+\.\d+\.\d+\z/, LevelDB.terrace_version)
  end

  def test_writes_that_are_left_out_are_listed
    return unless terrace?

    copy = File.join(@directory, 'copy')
    LevelDB::DB.open(@path) do |db|
      20.times { |number| db["key#{number}"] = 'x' * 1500 }
      assert_empty db.left_out
      # Copied while the database is open: nothing says yet how much of the log is on the disk.
      FileUtils.cp_r(@path, copy)
    end
    log = Dir[File.join(copy, '*.log')].find { |path| File.size(path).positive? }
    File.open(log, 'r+b') do |file|
      file.seek(8192)
      file.write("\0" * 512)
    end
    LevelDB::DB.open(copy) do |db|
      assert_equal 1, db.left_out.size
      assert_match(/\Awrites are left out: .*#{File.basename(log)} at byte \d+/, db.left_out.first)
    end
    LevelDB::DB.open(copy) { |db| assert_empty db.left_out }
  end

  def test_mappings_can_be_turned_off
    %i[map_tables map_log].each do |name|
      next assert_raises(LevelDB::NotSupportedError) { LevelDB::DB.new(@path, name => false) } unless terrace?

      LevelDB::DB.open(@path, name => false) do |db|
        refute db.options.public_send(name)
        db['a'] = '1'
        db.flush
        assert_equal '1', db['a']
        ending = { map_tables: 'ldb', map_log: 'log' }.fetch(name)
        assert_empty mapped(ending) if File.exist?('/proc/self/maps')
      end
    end
    return unless terrace? && File.exist?('/proc/self/maps')

    LevelDB::DB.open(@path) { |db| assert_equal ['1', 1], [db['a'], mapped('ldb').size] }
  end

  private

  # Files of the database that are mapped into this process.
  def mapped(ending)
    File.readlines('/proc/self/maps', chomp: true).grep(%r{#{Regexp.escape(@path)}/.*\.#{ending}\z})
  end

  def only_terrace_can
    LevelDB::DB.open(@path) do |db|
      %i[flush refresh verify left_out].each { |name| assert_raises(LevelDB::NotSupportedError) { db.public_send(name) } }
      assert_raises(LevelDB::NotSupportedError) { db.checkpoint(File.join(@directory, 'copy')) }
    end
    assert_raises(LevelDB::NotSupportedError) { LevelDB::DB.new(@path, read_only: true) }
  end
end
