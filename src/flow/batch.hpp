// The records of one slice as raw bytes. Operations pass a batch on without copying it: a filter
// drops views, a patch writes new bytes to the same arena, and all other bytes stay where they were
// read.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace plim::flow {

// A parser may read this many bytes past a record, so every block has that much spare room at its
// end.
inline constexpr std::size_t kReadAhead = 64;

// Memory that is freed all at once. Belongs to one thread.
class Arena {
 public:
  // Uninitialised, unaligned; valid until clear().
  char* allocate(std::size_t size);
  std::string_view copy(std::string_view bytes);
  // For data of unknown size: reserve(), write, then keep() the size that was used.
  char* reserve(std::size_t at_most);
  void keep(std::size_t used);
  // Frees everything except the largest block, which the next slice reuses. A block that is much
  // larger than usual is freed too.
  void clear();

  std::size_t allocated() const;  // bytes of all blocks

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  void add_block(std::size_t at_least);

  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // bytes used in the last block
};

// One JSON text, or any bytes in raw formats. Always in the arena of the batch.
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
