# frozen_string_literal: true

# A walk over the keys.
#
# Reading#each uses this; it uses Handle and Native.
module LevelDB
  # A walk over a database as it was when the iterator was made, in either direction, within bounds. Use +DB#each+ for loops,
  # and this to take entries one at a time.
  #
  # Several threads may use it. Each then gets some of the entries.
  class Iterator
    include Enumerable

    OPTIONS = (%i[from to reversed limit exact] + CallOptions::READ_OPTIONS).freeze
    # The most entries and bytes to read at once. Reading ahead begins with one entry and doubles.
    MAX_READ_AHEAD = 64
    MAX_READ_AHEAD_BYTES = 64 << 10
    private_constant :OPTIONS, :MAX_READ_AHEAD, :MAX_READ_AHEAD_BYTES

    # The database, and the options +from+, +to+ and +limit+; see Reading#each.
    attr_reader :db, :from, :to, :limit

    # Options are those of Reading#each.
    def initialize(db, options = {})
      raise ArgumentError, "db must be a LevelDB::DB, not #{db.inspect}" unless db.is_a?(DB)

      CallOptions.refuse_unknown(options, OPTIONS)
      @db = db
      take(options)
      @lock = Mutex.new
      @ahead = []
      @read_ahead = 1
      @handle = Handle.own(self) { make_handle(options.slice(*CallOptions::READ_OPTIONS)) }
    end

    # Whether it goes from the last key to the first.
    def reversed?
      @reversed
    end

    # Yields the remaining entries, and closes the iterator, even if the block is left early. Without a block, returns an
    # Enumerator.
    def each
      return to_enum unless block_given?

      begin
        while (entry = self.next)
          yield entry
        end
      ensure
        close
      end
      self
    end

    # Returns the next [key, value], or nil at the end.
    def next
      @lock.synchronize do
        look_ahead
        @ahead.shift
      end
    end

    # Returns what +next+ will return.
    def peek
      @lock.synchronize do
        look_ahead
        @ahead.first
      end
    end

    # Skips an entry.
    def scan
      self.next
      nil
    end

    # Releases what the iterator holds. Entries that were deleted meanwhile can then be removed from the disk.
    def close
      @handle.close
      ObjectSpace.undefine_finalizer(self)
      nil
    end

    # Whether it was closed, alone or with its database. An iterator at its end is not closed.
    def closed?
      @at_end ? @db.closed? : @handle.closed?
    end

    def inspect
      way = ' (reversed)' if @reversed
      "#<#{self.class} #{@db.inspect} from=#{@from.inspect} to=#{@to.inspect}#{way}>"
    end

    private

    def initialize_copy(_other)
      raise TypeError, "can't copy #{self.class}"
    end

    def take(options)
      @from = options[:from]
      @to = options[:to]
      @limit = options[:limit]
      raise ArgumentError, "limit must be 0 or more, not #{@limit.inspect}" unless @limit.nil? || @limit >= 0

      # As bytes, whatever their encoding: strings with different encodings are never equal.
      @start = @from && Native.bytes(@from, 'from').b
      @stop = @to && Native.bytes(@to, 'to').b
      @left = @limit
      @reversed = options[:reversed] ? true : false
      @exact = options[:exact]
      @step = @reversed ? Native::ITER_PREV : Native::ITER_NEXT
    end

    def make_handle(read_options)
      CallOptions.scanning(@db, read_options) do |native|
        @db.handle.make_child('iterator', Native::ITER_DESTROY) do |database|
          Native::CREATE_ITERATOR.call(database, native)
        end
      end
    end

    # Makes sure that the next entry, if there is one, is in @ahead.
    def look_ahead
      (@at_end ? @db.handle : @handle).check
      return unless @ahead.empty?

      @handle.use { |pointer| read(pointer) } unless @at_end
      return unless @at_end

      @handle.close
      failure = @failure
      raise failure if failure && @ahead.empty?
    end

    def read(pointer)
      length = Native.slot
      length_pointer = Fiddle::Pointer[length]
      bytes = 0
      @read_ahead.times do
        return @at_end = true if @left == 0 || !move(pointer)

        key = Native.bytes_at(Native::ITER_KEY.call(pointer, length_pointer), Native.value_of(length))
        return @at_end = true if @stop && (@reversed ? key < @stop : key > @stop)

        value = Native.bytes_at(Native::ITER_VALUE.call(pointer, length_pointer), Native.value_of(length))
        @left -= 1 if @left
        bytes += key.bytesize + value.bytesize
        @ahead << [key.force_encoding(@db.encoding), value.force_encoding(@db.encoding)]
        break if bytes >= MAX_READ_AHEAD_BYTES
      end
      @read_ahead = [@read_ahead * 2, MAX_READ_AHEAD].min
    end

    # Moves to the next entry, or to the first. Returns whether there is one.
    def move(pointer)
      if @has_begun
        @step.call(pointer)
      else
        begin_at(pointer)
        @has_begun = true
      end
      return true unless Native::ITER_VALID.call(pointer).zero?

      error = Native.slot
      Native::ITER_GET_ERROR.call(pointer, error)
      @failure = Native.error_at(Native.value_of(error)) unless Native.value_of(error).zero?
      false
    end

    def begin_at(pointer)
      return seek_to_end(pointer) unless @start

      Native::ITER_SEEK.call(pointer, @start, @start.bytesize)
      return unless @reversed

      if Native::ITER_VALID.call(pointer).zero?
        Native::ITER_SEEK_TO_LAST.call(pointer)
      elsif @exact
        step_back_to_start(pointer)
      end
    end

    def seek_to_end(pointer)
      (@reversed ? Native::ITER_SEEK_TO_LAST : Native::ITER_SEEK_TO_FIRST).call(pointer)
    end

    def step_back_to_start(pointer)
      length = Native.slot
      key = Native.bytes_at(Native::ITER_KEY.call(pointer, length), Native.value_of(length))
      Native::ITER_PREV.call(pointer) if key > @start
    end
  end
end
