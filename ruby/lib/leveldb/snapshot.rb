# frozen_string_literal: true

# The database as it was at a moment.
#
# Predecessor: DB#snapshot. Successor: Handle, and DB, which reads from it.
module LevelDB
  # A database as it was when this was made: all that Reading has. While it is there, what was overwritten or deleted since
  # stays on disk: release it when it is not needed any more.
  class Snapshot
    include Reading

    # The database.
    attr_reader :db
    # For the gem itself.
    attr_reader :handle

    # As DB#snapshot.
    def initialize(db)
      raise ArgumentError, "db must be a LevelDB::DB, not #{db.inspect}" unless db.is_a?(DB)

      @db = db
      @handle = Handle.own(self) { Snapshot.make_handle(db.handle) }
    end

    # A handle that does not refer to the snapshot.
    def self.make_handle(database)
      # LevelDB takes the database's address with the snapshot's.
      address = nil
      release = proc { |pointer| Native::RELEASE_SNAPSHOT.call(address, pointer) }
      database.make_child('snapshot', release) do |pointer|
        address = pointer
        Native::CREATE_SNAPSHOT.call(pointer)
      end
    end

    # DB#get, as of then.
    def get(key, options = nil)
      @db.get(key, (options || {}).merge(snapshot: self))
    end

    # DB#iterator, as of then.
    def iterator(options = {})
      @db.iterator(options.merge(snapshot: self))
    end

    # Lets go of it. Iterators that were made of it go on. A second time does nothing.
    def release
      @handle.close
      ObjectSpace.undefine_finalizer(self)
      nil
    end
    alias close release

    # Whether it was released, by itself or with its database.
    def released?
      @handle.closed?
    end
    alias closed? released?

    def inspect
      "#<#{self.class} of #{@db.inspect}#{' (released)' if released?}>"
    end

    private

    def initialize_copy(_other)
      raise TypeError, "can't copy #{self.class}"
    end
  end
end
