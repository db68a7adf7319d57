# frozen_string_literal: true

# The errors, found by the words that the C library's messages begin with.
#
# Native uses this for the library's messages; programs rescue the errors.
module LevelDB
  # Whatever the database refuses. Wrong arguments raise Ruby's TypeError and ArgumentError.
  class Error < StandardError
    # The exception for a message of the C library.
    def self.for(message)
      _, type = KINDS.find { |pattern, _| pattern.match?(message) }
      (type || Error).new(message)
    end
  end

  # A database, an iterator, a snapshot or a batch was used after it, or its database, was closed.
  class ClosedError < Error; end

  # Something that should exist does not. Only LevelDB's library reports this; Terrace's does not.
  class NotFoundError < Error; end

  # A file is damaged. The message names it.
  class CorruptionError < Error; end

  # The library does not support the operation.
  class NotSupportedError < Error; end

  # The library refuses an argument or an option.
  class InvalidArgumentError < Error; end

  # The database does not exist, and was not to be created.
  class MissingDatabaseError < InvalidArgumentError; end

  # The database exists, and was not to.
  class DatabaseExistsError < InvalidArgumentError; end

  # The system refuses: a failing or full disk, too many open files, no permission. Or the database does: it is open
  # read-only, its writer has removed the files, an earlier sync failed, or there is nothing to repair.
  class IOError < Error; end

  # The database is open in another process, or in another DB object of this one.
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
