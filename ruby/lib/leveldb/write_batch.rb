# frozen_string_literal: true

# Writes that take effect together.
#
# DB#batch makes these; DB#write writes them.
module LevelDB
  # Puts and deletes that take effect in order, all together or not at all. They stay in Ruby's memory until they are written.
  class WriteBatch
    # The database.
    attr_reader :db

    # Makes a batch, like DB#batch without a block.
    def initialize(db)
      raise ArgumentError, "db must be a LevelDB::DB, not #{db.inspect}" unless db.is_a?(DB)

      @db = db
      @operations = []
    end

    # Adds a put. Returns the value.
    def put(key, value)
      add([Native.bytes(key, 'a key'), Native.bytes(value, 'a value')])
      value
    end
    alias []= put

    # Adds a delete. Returns true.
    def delete(key)
      add([Native.bytes(key, 'a key')])
      true
    end

    # Removes all operations.
    def clear
      add(nil)
      @operations.clear
      self
    end

    # The number of operations.
    def size
      @operations.size
    end

    # Writes this batch with DB#write. It may be written again.
    def write!(options = nil)
      @db.write(self, options)
    end
    alias write write!

    # For DB#batch: refuses operations after the end of its block, because they would be lost.
    def finish
      @operations.freeze
    end

    # For DB#write. Yields the library's batch with the operations in it.
    def with_native
      native = Native::WRITEBATCH_CREATE.call
      @operations.each do |key, value|
        if value
          Native::WRITEBATCH_PUT.call(native, key, key.bytesize, value, value.bytesize)
        else
          Native::WRITEBATCH_DELETE.call(native, key, key.bytesize)
        end
      end
      yield native
    ensure
      Native::WRITEBATCH_DESTROY.call(native) if native
    end

    def inspect
      "#<#{self.class} of #{@db.inspect}: #{size} operations>"
    end

    private

    def initialize_copy(other)
      super
      @operations = @operations.dup
    end

    def add(operation)
      @db.handle.check
      raise Error, 'the batch was written at the end of its block' if @operations.frozen?

      @operations << operation if operation
    end
  end
end
