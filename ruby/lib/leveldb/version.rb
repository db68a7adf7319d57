# frozen_string_literal: true

module LevelDB
  # The version of this gem, which is Terrace's.
  VERSION = '0.1.0'
end
