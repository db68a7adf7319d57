# frozen_string_literal: true

# Who may use an object of the C library, and when it goes.
#
# Predecessor: DB, Iterator and Snapshot. Successor: Native.
module LevelDB
  # For the gem itself. An object of the C library: a database, or an iterator or a snapshot, which are children of a
  # database.
  #
  # - Any number of threads may be within `use` at once. `close` waits for them, and refuses those who come later.
  # - A database closes its children first. What is closed is closed once, however many ask for it.
  # - The owner (what the program holds) refers to the handle, never the other way, so that the garbage collector can tell
  #   that the owner is gone. Its finalizer closes the handle.
  # - A process that was forked has none of the library's threads. There a handle only refuses; its memory goes with
  #   the process.
  class Handle
    # An exception from another thread (Timeout, Thread#kill) between a call and the storing of its result would lose
    # memory. It waits for the end of the call, as it would anyway for the call itself.
    NOT_NOW = { Object => :never }.freeze
    private_constant :NOT_NOW

    # Yields for a handle, which it gives back when its owner is gone. Nothing comes between.
    def self.own(owner)
      Thread.handle_interrupt(NOT_NOW) do
        handle = yield
        ObjectSpace.define_finalizer(owner, handle.finalizer)
        handle
      end
    end

    # +pointer+ is the object's address, +what+ its name in messages; the block gives the object back.
    #
    # The block must not refer to the owner.
    def initialize(pointer, what, parent: nil, &give_back)
      @pointer = pointer
      @what = what
      @parent = parent
      @give_back = give_back
      @pid = Process.pid
      @lock = Mutex.new
      @idle = ConditionVariable.new
      # Threads that are within `use`, and how often.
      @users = {}.compare_by_identity
      @children = {}.compare_by_identity
      @closing = false
    end

    # Makes a handle that is closed with this one, of what the block returns for this one's pointer. +give_back+ gets the
    # child's pointer.
    def make_child(what, give_back, &make)
      use do |pointer|
        child = Handle.new(make.call(pointer), what, parent: self, &give_back)
        @children[child] = true
        child
      end
    end

    # Yields the pointer, which stays valid until the block ends. The block calls the library and nothing else: no
    # program's code.
    #
    # Raises ClosedError.
    def use
      Thread.handle_interrupt(NOT_NOW) do
        enter
        begin
          yield @pointer
        ensure
          leave
        end
      end
    end

    # Whether it was closed, or belongs to the process that this one was forked from.
    def closed?
      gone? || foreign?
    end

    # Raises ClosedError if it was closed.
    def check
      raise ClosedError, "the #{@what} is closed" if gone?
    end

    # Gives the object back after the calls of other threads have returned. A second time does nothing.
    #
    # The lock is not held while it waits for others and closes the children: who is within `use` of a snapshot may be about
    # to use the database.
    def close
      return @pointer = nil if foreign?

      Thread.handle_interrupt(NOT_NOW) do
        next unless @lock.synchronize { begin_closing }

        begin
          give_back(:close)
        ensure
          @lock.synchronize { end_closing }
        end
      end
    end

    # The same when the owner is gone, so that nobody is within `use` any more. Finalizers may not wait for a lock. If it is
    # taken, the handle is being closed already, with its database.
    def close_ownerless
      return @pointer = nil if foreign?
      return unless @lock.try_lock

      begin
        Thread.handle_interrupt(NOT_NOW) { give_back(:close_ownerless) } unless gone?
      ensure
        @lock.unlock
      end
    end

    # What ObjectSpace.define_finalizer takes for the owner.
    def finalizer
      proc do
        close_ownerless
      rescue Error
        # Nobody is left to be told.
      end
    end

    # A child that is closed.
    def forget(child)
      @children.delete(child)
    end

    private

    def gone?
      @pointer.nil? || @closing
    end

    def foreign?
      @pid != Process.pid
    end

    def enter
      # Before the lock, which may be held by a thread that was not forked.
      raise ClosedError, "the #{@what} belongs to the process that this one was forked from" if foreign?

      @lock.synchronize do
        check
        @users[Thread.current] = @users.fetch(Thread.current, 0) + 1
      end
    end

    def leave
      @lock.synchronize do
        thread = Thread.current
        if @users[thread] == 1
          @users.delete(thread)
        else
          @users[thread] -= 1
        end
        @idle.broadcast if @closing
      end
    end

    # With the lock. Waits until nobody else is within `use`. False if there is nothing left to close.
    def begin_closing
      @idle.wait(@lock) while @closing
      return false if @pointer.nil?

      @closing = true
      begin
        # What this thread itself left behind is of a call that a signal broke off.
        @idle.wait(@lock) while @users.each_key.any? { |thread| thread != Thread.current }
        waited = true
      ensure
        end_closing unless waited
      end
    end

    # With the lock.
    def end_closing
      @closing = false
      @idle.broadcast
    end

    # The children are closed by the method named.
    def give_back(close_children)
      # The list is a copy: finalizers of other children may run meanwhile.
      @children.keys.each(&close_children)
      pointer = @pointer
      @pointer = nil
      @give_back.call(pointer)
    ensure
      # Last: a parent that is being closed waits for the children that it knows.
      @parent&.forget(self)
    end
  end
end
