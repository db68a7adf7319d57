# frozen_string_literal: true

# An open database.
#
# Predecessor: the program. Successor: Handle and Native; Reading has what is shared with snapshots.
module LevelDB
  # An open database: an ordered map from keys to values, both strings of any bytes.
  #
  #   db = LevelDB::DB.new 'db'
  #   db.put 'b', 'bar'
  #   db.put 'a', 'foo'
  #   db.to_a # => [["a", "foo"], ["b", "bar"]]
  #
  # Keys and values go in as the bytes they are, whatever their encoding, and come out in binary encoding, or in that of the
  # option +encoding+. What is no string is refused with a TypeError.
  #
  # It may be used by several threads at once. A process that was forked must open it for itself, after it was closed in the
  # first one; until then it raises ClosedError.
  class DB
    include Reading

    # The path it was opened with, as a String.
    attr_reader :pathname
    alias path pathname
    # Its Options.
    attr_reader :options
    # For the gem itself.
    attr_reader :handle

    class << self
      # Opens a database. It is made only with +create_if_missing+. Options are those of Options.
      #
      # Raises Error, or one of its kinds.
      def make(path, options = {})
        new(path, { create_if_missing: false }.merge(options))
      end

      # Makes a database. Raises DatabaseExistsError.
      def create(path, options = {})
        new(path, options.merge(create_if_missing: true, error_if_exists: true))
      end

      # Opens a database. Raises MissingDatabaseError.
      def load(path, options = {})
        new(path, options.merge(create_if_missing: false, error_if_exists: false))
      end

      # As +new+. With a block: yields the database, closes it, and returns the block's result.
      def open(path, options = {})
        db = new(path, options)
        return db unless block_given?

        begin
          yield db
        ensure
          db.close
        end
      end

      # Removes the database in a directory. Other files in the directory stay. It is no failure if there is none.
      def destroy(path, options = {})
        maintain(Native::DESTROY_DB, path, options)
      end

      # Makes a damaged database openable again, with all that is intact.
      def repair(path, options = {})
        maintain(Native::REPAIR_DB, path, options)
      end

      # For the gem itself. A handle that does not refer to the DB object.
      def open_handle(path, options)
        function = options.read_only ? beyond(:TERRACE_OPEN_READ_ONLY) : Native::OPEN
        native, free = options.to_native
        pointer = Native.checked { |error| function.call(native, Native.c_string(path), error) }
        Handle.new(pointer, 'database') do |database|
          close_native(database)
        ensure
          free.call
        end
      rescue Error
        free&.call
        raise
      end

      # For the gem itself. A function that only Terrace's library has.
      def beyond(name)
        Native.const_get(name) || raise(NotSupportedError, "Not implemented: #{LevelDB.library_path} has no #{name.downcase}")
      end

      private

      def close_native(database)
        return Native::CLOSE.call(database) unless Native::TERRACE_CLOSE

        Native.checked { |error| Native::TERRACE_CLOSE.call(database, error) }
      end

      def maintain(function, path, options)
        path = Native.c_string(Native.path(path))
        native, free = Options.new(options).to_native
        Native.checked { |error| function.call(native, path, error) }
        true
      ensure
        free&.call
      end
    end

    # Opens the database in the directory +path+, and makes it if there is none, unless +create_if_missing+ is false. Options are
    # those of Options.
    #
    # Raises Error, or one of its kinds.
    def initialize(path, options = {})
      @pathname = Native.path(path)
      @options = Options.new({ create_if_missing: true }.merge(options))
      @handle = Handle.own(self) { DB.open_handle(@pathname, @options) }
    end

    # The encoding of keys and values that come out.
    def encoding
      @options.encoding
    end

    # The value of a key, or nil.
    #
    # fill_cache:: keep the block read in the cache; true by default
    # verify_checksums:: verify the blocks read; Terrace does unless it is false
    # snapshot:: read from this Snapshot
    def get(key, options = nil)
      key = Native.bytes(key, 'a key')
      CallOptions.reading(self, options) do |native|
        @handle.use do |database|
          length = Native.slot
          value = Native.checked { |error| Native::GET.call(database, native, key, key.bytesize, length, error) }
          next if value.zero?

          begin
            Native.bytes_at(value, Native.value_of(length)).force_encoding(encoding)
          ensure
            Native::FREE.call(value)
          end
        end
      end
    end

    # Stores a value. Returns it. What was stored survives the death of the process.
    #
    # sync:: return only when it also survives a loss of power
    def put(key, value, options = nil)
      key = Native.bytes(key, 'a key')
      bytes = Native.bytes(value, 'a value')
      native = CallOptions.writing(options)
      @handle.use do |database|
        Native.checked do |error|
          Native::PUT.call(database, native, key, key.bytesize, bytes, bytes.bytesize, error)
        end
      end
      value
    end
    alias []= put

    # Removes a key. Returns the value that it had, or nil. It reads for that; a batch does not. Options as for +put+.
    def delete(key, options = nil)
      native = CallOptions.writing(options)
      key = Native.bytes(key, 'a key')
      value = get(key, fill_cache: false)
      @handle.use do |database|
        Native.checked { |error| Native::DELETE.call(database, native, key, key.bytesize, error) }
      end
      value
    end

    # Yields a WriteBatch, and writes it when the block returns; if it raises, nothing is written. Returns true. Without a
    # block, a WriteBatch that is written by its +write!+. Options as for +put+.
    def batch(options = nil)
      batch = WriteBatch.new(self)
      return batch unless block_given?

      CallOptions.writing(options)
      yield batch
      batch.finish
      write(batch, options)
    end

    # Writes a batch of this database. Returns true. Options as for +put+.
    def write(batch, options = nil)
      raise ArgumentError, "not a batch of this database: #{batch.inspect}" unless batch.is_a?(WriteBatch) && batch.db.equal?(self)

      native = CallOptions.writing(options)
      @handle.use do |database|
        batch.with_native do |operations|
          Native.checked { |error| Native::WRITE.call(database, native, operations, error) }
        end
      end
      true
    end

    # An Iterator, for entries one at a time. Options are those of Reading#each.
    def iterator(options = {})
      Iterator.new(self, options)
    end

    # The database as it is now, as a Snapshot. With a block: yields it, releases it, and returns the block's result.
    def snapshot
      snapshot = Snapshot.new(self)
      return snapshot unless block_given?

      begin
        yield snapshot
      ensure
        snapshot.release
      end
    end

    # Closes it, with its iterators and snapshots, after the calls of other threads have returned. A second time does
    # nothing. Returns true.
    #
    # Raises Error if something went wrong while closing, or in the background before. It is closed all the same.
    def close
      @handle.close
      ObjectSpace.undefine_finalizer(self)
      true
    end
    alias close! close

    # Whether it is closed.
    def closed?
      @handle.closed?
    end

    # What the database knows about itself, such as "leveldb.stats" or "leveldb.num-files-at-level0"; nil for a name that
    # it does not know.
    def property(name)
      name = Native.bytes(name, 'a name')
      @handle.use do |database|
        text = Native::PROPERTY_VALUE.call(database, Native.c_string(name))
        next if text.zero?

        begin
          Native.text_at(text)
        ensure
          Native::FREE.call(text)
        end
      end
    end

    # The property "leveldb.stats".
    def stats
      property('leveldb.stats')
    end

    # About how many bytes on disk the entries from one key to before another take. What is still in memory does not count.
    def approximate_size(from, to)
      from = Native.bytes(from, 'from')
      to = Native.bytes(to, 'to')
      size = Native.slot
      @handle.use do |database|
        # Lists with one element each.
        starts, limits = [from, to].map { |key| [Fiddle::Pointer[key].to_i].pack('J') }
        lengths = [from, to].map { |key| [key.bytesize].pack('J') }
        Native::APPROXIMATE_SIZES.call(database, 1, starts, lengths[0], limits, lengths[1], size)
      end
      Native.value_of(size)
    end

    # Compacts what lies from one key to another, both included. nil is an open end.
    def compact(from = nil, to = nil)
      from &&= Native.bytes(from, 'from')
      to &&= Native.bytes(to, 'to')
      @handle.use do |database|
        Native::COMPACT_RANGE.call(database, from, from ? from.bytesize : 0, to, to ? to.bytesize : 0)
      end
      nil
    end

    # Shows in a database that was opened with +read_only+ what others have written since. Iterators and snapshots that are there
    # keep what they show, and if it fails, so does the database. Terrace only.
    def refresh
      call_beyond(:TERRACE_REFRESH)
    end

    # Writes what is in memory to tables. Terrace only.
    def flush
      call_beyond(:TERRACE_FLUSH)
    end

    # Writes a consistent copy to a directory that is empty or does not exist, by hard links where that is possible. Terrace only.
    def checkpoint(path)
      call_beyond(:TERRACE_CHECKPOINT, Native.c_string(Native.path(path)))
    end

    # Reads every table from end to end. Raises CorruptionError with the first damage. Terrace only.
    def verify
      call_beyond(:TERRACE_VERIFY)
    end

    def inspect
      "#<#{self.class} #{@pathname.inspect}#{' (closed)' if closed?}>"
    end

    private

    def initialize_copy(_other)
      raise TypeError, "can't copy #{self.class}"
    end

    def call_beyond(name, *arguments)
      function = DB.beyond(name)
      @handle.use { |database| Native.checked { |error| function.call(database, *arguments, error) } }
      nil
    end
  end
end
