# frozen_string_literal: true

# The options of one read or one write.
#
# DB and Iterator use this; it uses Native.
module LevelDB
  # Internal to the gem. The library's objects for the options of calls. The usual ones are made once and never freed.
  module CallOptions
    READ = Native::READOPTIONS_CREATE.call
    SCAN = Native::READOPTIONS_CREATE.call
    WRITE = Native::WRITEOPTIONS_CREATE.call
    SYNCED_WRITE = Native::WRITEOPTIONS_CREATE.call
    Native::READOPTIONS_SET_FILL_CACHE.call(SCAN, 0)
    Native::WRITEOPTIONS_SET_SYNC.call(SYNCED_WRITE, 1)
    private_constant :READ, :SCAN, :WRITE, :SYNCED_WRITE

    READ_OPTIONS = %i[fill_cache verify_checksums snapshot].freeze
    WRITE_OPTIONS = %i[sync].freeze
    private_constant :WRITE_OPTIONS

    class << self
      # Yields the address of options for a read of one key.
      def reading(db, options, &use)
        options.nil? || options.empty? ? yield(READ) : special(db, options, &use)
      end

      # Yields the address of options for an iterator, which does not fill the block cache unless told to.
      def scanning(db, options, &use)
        options.empty? ? yield(SCAN) : special(db, { fill_cache: false }.merge(options), &use)
      end

      # Returns the address of options for a write.
      def writing(options)
        return WRITE if options.nil? || options.empty?

        refuse_unknown(options, WRITE_OPTIONS)
        options[:sync] ? SYNCED_WRITE : WRITE
      end

      # Raises ArgumentError for a name that is not one of +known+.
      def refuse_unknown(options, known)
        unknown = options.keys - known
        raise ArgumentError, "unknown options: #{unknown.map(&:inspect).join(', ')}" unless unknown.empty?
      end

      private

      def special(db, options, &use)
        refuse_unknown(options, READ_OPTIONS)
        snapshot = options[:snapshot]
        return with_options(options, nil, &use) unless snapshot
        unless snapshot.is_a?(Snapshot) && snapshot.db.equal?(db)
          raise ArgumentError, "snapshot must be one of this database, not #{snapshot.inspect}"
        end

        snapshot.handle.use { |pointer| with_options(options, pointer, &use) }
      end

      def with_options(options, snapshot)
        native = Native::READOPTIONS_CREATE.call
        set(native, Native::READOPTIONS_SET_FILL_CACHE, options[:fill_cache])
        set(native, Native::READOPTIONS_SET_VERIFY_CHECKSUMS, options[:verify_checksums])
        Native::READOPTIONS_SET_SNAPSHOT.call(native, snapshot) if snapshot
        yield native
      ensure
        Native::READOPTIONS_DESTROY.call(native) if native
      end

      def set(native, function, value)
        function.call(native, value ? 1 : 0) unless value.nil?
      end
    end
  end
end
