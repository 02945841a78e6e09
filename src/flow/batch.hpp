// The records of one slice as their raw bytes. Operations hand a batch on without copying: a filter
// drops views, a patch makes new bytes in the same arena, everything else stays where it was read.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace plim::flow {

// A parser may read this far behind a record, so every block has as many spare bytes at its end.
inline constexpr std::size_t kReadAhead = 64;

// Memory that is given back all at once. Belongs to one thread.
class Arena {
 public:
  // Uninitialised, unaligned; valid until clear().
  char* allocate(std::size_t size);
  std::string_view copy(std::string_view bytes);
  // For a piece whose size is known only when it is made: reserve, write, then say how much stays.
  char* reserve(std::size_t at_most);
  void keep(std::size_t used);
  // Forgets everything. Keeps the largest block, so that slice after slice runs in the same memory;
  // one that was far larger than usual goes back to the system.
  void clear();

  std::size_t allocated() const;  // bytes of all blocks

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  void add_block(std::size_t at_least);

  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the last block
};

// One JSON text each, or any bytes for raw formats; always in the batch's own arena.
using Record = std::string_view;

struct Batch {
  Arena arena;
  std::vector<Record> records;

  void clear() {
    records.clear();
    arena.clear();
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (Record record : records) sum += record.size();
    return sum;
  }
};

}  // namespace plim::flow
