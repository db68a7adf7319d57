# frozen_string_literal: true

require_relative 'helper'

# A read-only database beside a writer in another process.
class ReaderTest < DatabaseTest
  WRITER = <<~RUBY
    require 'leveldb'
    $stdout.sync = true
    # Small, so that tables come and go while the reader runs.
    options = { write_buffer_size: 64 << 10, max_file_size: 1 << 20 }
    written = 0
    while $stdin.gets
      LevelDB::DB.open(ARGV[0], options) do |db|
        200.times do
          written += 1
          db.batch do |batch|
            batch.put('first', written.to_s)
            batch.put(format('filler%05d', rand(5000)), rand.to_s * 50)
            batch.put('second', written.to_s)
          end
        end
        db.compact
      end
      puts written
    end
  RUBY

  def setup
    super
    @db['first'] = @db['second'] = '0'
    @db.close
  end

  # Yields a function that makes the other process open the database, write, compact and close. It returns the last number
  # written.
  def beside_a_writer
    lib = File.expand_path('../lib', __dir__)
    IO.popen([RbConfig.ruby, "-I#{lib}", '-e', WRITER, @path], 'r+') do |writer|
      yield(lambda do
        writer.puts
        Integer(writer.gets || flunk('the writer is gone'))
      end)
    end
  end

  def test_a_reader_keeps_its_state_until_it_is_refreshed
    return unless terrace?

    beside_a_writer do |write|
      LevelDB::DB.open(@path, read_only: true) do |reader|
        snapshot = reader.snapshot
        iterator = reader.iterator(from: 'second')
        last = write.call
        assert_equal %w[0 0], [reader['first'], reader['second']]
        assert_nil reader.refresh
        assert_equal [last.to_s] * 2, [reader['first'], reader['second']]
        assert_equal '0', snapshot['first']
        assert_equal %w[second 0], iterator.next
      end
    end
  end

  def test_readers_see_whole_batches_while_a_writer_opens_compacts_and_closes
    return unless terrace?

    beside_a_writer do |write|
      LevelDB::DB.open(@path, read_only: true) do |reader|
        done = false
        last = 0
        writing = Thread.new do
          5.times { last = write.call }
        ensure
          done = true
        end
        shown = 0
        rounds = 0
        until done && rounds.positive?
          reader.refresh
          rounds += 1
          assert_operator shown, :<=, shown = whole(reader), 'nothing goes back'
          LevelDB::DB.open(@path, read_only: true) { |other| assert_operator whole(other), :>=, shown }
        end
        writing.join
        reader.refresh
        assert_equal last, whole(reader)
      end
    end
  end

  def test_a_writer_that_refreshes_itself_shows_what_it_shows
    return unless terrace?

    LevelDB::DB.open(@path) do |db|
      db['a'] = '1'
      assert_nil db.refresh
      assert_equal '1', db['a']
    end
    assert_raises(LevelDB::ClosedError) { @db.refresh }
  end

  private

  # The number of the last batch that the database shows. All of the batch must be there.
  def whole(database)
    entries = database.to_a.to_h
    assert_equal entries['first'], entries['second']
    Integer(entries['first'])
  end
end
