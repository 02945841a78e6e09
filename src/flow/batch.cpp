#include "flow/batch.hpp"

#include <algorithm>
#include <cstring>

namespace plim::flow {
namespace {

constexpr std::size_t kSmallestBlock = std::size_t{256} << 10;
constexpr std::size_t kKeptBlock = std::size_t{24} << 20;

}  // namespace

void Arena::add_block(std::size_t at_least) {
  // Doubling keeps the number of blocks small without allocating much more than needed.
  std::size_t size =
      std::max({kSmallestBlock, at_least, blocks_.empty() ? 0 : blocks_.back().size});
  blocks_.push_back({.bytes = std::unique_ptr<char[]>(new char[size + kReadAhead]), .size = size});
  used_ = 0;
}

char* Arena::reserve(std::size_t at_most) {
  if (blocks_.empty() || blocks_.back().size - used_ < at_most) add_block(at_most);
  return blocks_.back().bytes.get() + used_;
}

void Arena::keep(std::size_t used) {
  used_ += used;
}

char* Arena::allocate(std::size_t size) {
  char* out = reserve(size);
  keep(size);
  return out;
}

std::string_view Arena::copy(std::string_view bytes) {
  char* to = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return {to, bytes.size()};
}

void Arena::clear() {
  auto largest = std::ranges::max_element(blocks_, {}, &Block::size);
  if (largest != blocks_.end()) {
    Block kept = std::move(*largest);
    blocks_.clear();
    if (kept.size <= kKeptBlock) blocks_.push_back(std::move(kept));
  }
  used_ = 0;
}

std::size_t Arena::allocated() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

}  // namespace plim::flow
