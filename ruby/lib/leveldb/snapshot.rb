# frozen_string_literal: true

# The database as it was at a moment.
#
# DB#snapshot makes these; they use Handle, and DB to read.
module LevelDB
  # A database as it was when the snapshot was made, with everything that Reading has. While the snapshot exists, data that is
  # overwritten or deleted meanwhile stays on disk. Release it when it is no longer needed.
  class Snapshot
    include Reading

    # The database.
    attr_reader :db
    # Internal to the gem.
    attr_reader :handle

    # Makes a snapshot, like DB#snapshot.
    def initialize(db)
      raise ArgumentError, "db must be a LevelDB::DB, not #{db.inspect}" unless db.is_a?(DB)

      @db = db
      @handle = Handle.own(self) { Snapshot.make_handle(db.handle) }
    end

    # Returns a handle that does not refer to the snapshot.
    def self.make_handle(database)
      # LevelDB needs the database's address together with the snapshot's.
      address = nil
      release = proc { |pointer| Native::RELEASE_SNAPSHOT.call(address, pointer) }
      database.make_child('snapshot', release) do |pointer|
        address = pointer
        Native::CREATE_SNAPSHOT.call(pointer)
      end
    end

    # DB#get in the state of the snapshot.
    def get(key, options = nil)
      @db.get(key, (options || {}).merge(snapshot: self))
    end

    # DB#iterator in the state of the snapshot.
    def iterator(options = {})
      @db.iterator(options.merge(snapshot: self))
    end

    # Releases the snapshot. Iterators that were made from it continue. A second call does nothing.
    def release
      @handle.close
      ObjectSpace.undefine_finalizer(self)
      nil
    end
    alias close release

    # Whether it was released, alone or with its database.
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
