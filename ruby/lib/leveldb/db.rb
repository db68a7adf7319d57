# frozen_string_literal: true

# An open database.
#
# The program uses this; it uses Handle and Native. Reading has what databases share with snapshots.
module LevelDB
  # An open database: an ordered map from keys to values, both strings of any bytes.
  #
  #   db = LevelDB::DB.new 'db'
  #   db.put 'b', 'bar'
  #   db.put 'a', 'foo'
  #   db.to_a # => [["a", "foo"], ["b", "bar"]]
  #
  # Keys and values are stored as their bytes, whatever their encoding, and are returned in binary encoding or in that of the
  # option +encoding+. Anything but a string is refused with a TypeError.
  #
  # Several threads may use it at once. In a forked process it raises ClosedError. That process must open the database for
  # itself, after the first one has closed it.
  class DB
    include Reading

    # The path that the database was opened with, as a String.
    attr_reader :pathname
    alias path pathname
    # The database's Options.
    attr_reader :options
    # Internal to the gem.
    attr_reader :handle

    class << self
      # Opens a database, and creates it only with +create_if_missing+. Options are those of Options.
      #
      # Raises Error or one of its subclasses.
      def make(path, options = {})
        new(path, { create_if_missing: false }.merge(options))
      end

      # Creates a database. Raises DatabaseExistsError if it exists.
      def create(path, options = {})
        new(path, options.merge(create_if_missing: true, error_if_exists: true))
      end

      # Opens a database. Raises MissingDatabaseError if it does not exist.
      def load(path, options = {})
        new(path, options.merge(create_if_missing: false, error_if_exists: false))
      end

      # Like +new+. With a block: yields the database, closes it, and returns the block's result.
      def open(path, options = {})
        db = new(path, options)
        return db unless block_given?

        begin
          yield db
        ensure
          db.close
        end
      end

      # Removes the database in a directory. Other files in the directory stay. If there is no database, this does nothing.
      def destroy(path, options = {})
        maintain(Native::DESTROY_DB, path, options)
      end

      # Repairs a damaged database so that it can be opened again, with everything that is intact.
      def repair(path, options = {})
        maintain(Native::REPAIR_DB, path, options)
      end

      # Internal to the gem. Returns a handle that does not refer to the DB object.
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

      # Internal to the gem. Calls a function that only Terrace's library has.
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

    # Opens the database in the directory +path+. Creates it if there is none, unless +create_if_missing+ is false. Options are
    # those of Options.
    #
    # Raises Error or one of its subclasses.
    def initialize(path, options = {})
      @pathname = Native.path(path)
      @options = Options.new({ create_if_missing: true }.merge(options))
      @handle = Handle.own(self) { DB.open_handle(@pathname, @options) }
    end

    # The encoding of keys and values that are read.
    def encoding
      @options.encoding
    end

    # Returns the value of a key, or nil.
    #
    # fill_cache:: keep the blocks that are read in the cache; true by default
    # verify_checksums:: verify the blocks that are read; Terrace does so unless it is false
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

    # Stores a value, and returns it. Once this returns, the value survives the death of the process.
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

    # Removes a key. Returns the value that it had, or nil. To do so it reads the value; a batch does not. Takes the options of
    # +put+.
    def delete(key, options = nil)
      native = CallOptions.writing(options)
      key = Native.bytes(key, 'a key')
      value = get(key, fill_cache: false)
      @handle.use do |database|
        Native.checked { |error| Native::DELETE.call(database, native, key, key.bytesize, error) }
      end
      value
    end

    # Yields a WriteBatch, and writes it when the block returns. If the block raises, nothing is written. Returns true. Without
    # a block, returns a WriteBatch, which its +write!+ writes. Takes the options of +put+.
    def batch(options = nil)
      batch = WriteBatch.new(self)
      return batch unless block_given?

      CallOptions.writing(options)
      yield batch
      batch.finish
      write(batch, options)
    end

    # Writes a batch of this database. Returns true. Takes the options of +put+.
    def write(batch, options = nil)
      raise ArgumentError, "batch must be one of this database, not #{batch.inspect}" unless batch.is_a?(WriteBatch) && batch.db.equal?(self)

      native = CallOptions.writing(options)
      @handle.use do |database|
        batch.with_native do |operations|
          Native.checked { |error| Native::WRITE.call(database, native, operations, error) }
        end
      end
      true
    end

    # Returns an Iterator, which yields one entry at a time. Options are those of Reading#each.
    def iterator(options = {})
      Iterator.new(self, options)
    end

    # Returns a Snapshot of the database as it is now. With a block: yields the snapshot, releases it, and returns the block's
    # result.
    def snapshot
      snapshot = Snapshot.new(self)
      return snapshot unless block_given?

      begin
        yield snapshot
      ensure
        snapshot.release
      end
    end

    # Closes the database, with its iterators and snapshots, after the calls of other threads have returned. A second call does
    # nothing. Returns true.
    #
    # Raises Error if something went wrong while closing, or earlier in the background. The database is closed all the same.
    def close
      @handle.close
      ObjectSpace.undefine_finalizer(self)
      true
    end
    alias close! close

    # Whether the database is closed.
    def closed?
      @handle.closed?
    end

    # The writes in logs that opening the database left out, because a loss of power seems to have taken a part of them, or
    # because logs of another engine are missing: a String for each log. Usually empty. Terrace only.
    def left_out
      function = DB.beyond(:TERRACE_LEFT_OUT)
      taken_text { |database| function.call(database) }.to_s.lines(chomp: true)
    end

    # Returns what the database knows about itself, such as "leveldb.stats" or "leveldb.num-files-at-level0", or nil for an
    # unknown name.
    def property(name)
      name = Native.bytes(name, 'a name')
      taken_text { |database| Native::PROPERTY_VALUE.call(database, Native.c_string(name)) }
    end

    # The property "leveldb.stats".
    def stats
      property('leveldb.stats')
    end

    # Estimates how many bytes on disk the entries from one key up to, but not including, another take. Data that is still in
    # memory does not count.
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

    # Compacts the entries from one key to another, both included. nil means no bound.
    def compact(from = nil, to = nil)
      from &&= Native.bytes(from, 'from')
      to &&= Native.bytes(to, 'to')
      @handle.use do |database|
        Native::COMPACT_RANGE.call(database, from, from ? from.bytesize : 0, to, to ? to.bytesize : 0)
      end
      nil
    end

    # Brings a database that was opened with +read_only+ up to date with what others have written. Existing iterators and
    # snapshots keep what they show. If it fails, so does the database. Terrace only.
    def refresh
      call_beyond(:TERRACE_REFRESH)
    end

    # Writes what is in memory to tables. Terrace only.
    def flush
      call_beyond(:TERRACE_FLUSH)
    end

    # Writes a consistent copy to a directory that is empty or does not exist, with hard links where possible. Terrace only.
    def checkpoint(path)
      call_beyond(:TERRACE_CHECKPOINT, Native.c_string(Native.path(path)))
    end

    # Reads every table from end to end. Raises CorruptionError at the first damage. Terrace only.
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

    # The text that a function returns, or nil. Frees it.
    def taken_text
      @handle.use do |database|
        text = yield database
        next if text.zero?

        begin
          Native.text_at(text)
        ensure
          Native::FREE.call(text)
        end
      end
    end

    def call_beyond(name, *arguments)
      function = DB.beyond(name)
      @handle.use { |database| Native.checked { |error| function.call(database, *arguments, error) } }
      nil
    end
  end
end
