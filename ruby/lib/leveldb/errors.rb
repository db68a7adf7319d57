# frozen_string_literal: true

# What can go wrong, by the words that the C library's messages begin with.
#
# Predecessor: Native, which takes the messages. Successor: the program's `rescue`.
module LevelDB
  # Whatever the database refuses. Wrong arguments are Ruby's TypeError and ArgumentError.
  class Error < StandardError
    # The exception for a message of the C library.
    def self.for(message)
      _, type = KINDS.find { |pattern, _| pattern.match?(message) }
      (type || Error).new(message)
    end
  end

  # A database, an iterator, a snapshot or a batch that is used after it, or its database, was closed.
  class ClosedError < Error; end

  # Something that should be there is not.
  class NotFoundError < Error; end

  # A damaged file. The message names it.
  class CorruptionError < Error; end

  # What this library cannot do.
  class NotSupportedError < Error; end

  # An argument or an option that the library refuses.
  class InvalidArgumentError < Error; end

  # There is no database, and it was not to be made.
  class MissingDatabaseError < InvalidArgumentError; end

  # There is a database, and there was to be none.
  class DatabaseExistsError < InvalidArgumentError; end

  # The system refuses: no permission, a full disk, a failing device.
  class IOError < Error; end

  # Another process, or another DB object of this one, has the database open.
  class LockedError < IOError; end

  class Error
    KINDS = {
      /\AInvalid argument: .*does not exist \(create_if_missing is false\)/m => MissingDatabaseError,
      /\AInvalid argument: .*exists \(error_if_exists is true\)/m => DatabaseExistsError,
      /\AIO error: lock .*LOCK: /m => LockedError,
      /\ANotFound: / => NotFoundError,
      /\ACorruption: / => CorruptionError,
      /\ANot implemented: / => NotSupportedError,
      /\AInvalid argument: / => InvalidArgumentError,
      /\AIO error: / => IOError
    }.freeze
    private_constant :KINDS
  end
end
