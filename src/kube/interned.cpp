#include "kube/interned.hpp"

#include <cstring>
#include <new>

namespace plim::kube {
namespace {

template <class Word>
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Multiply and fold, eight bytes at a time: the texts are short and looked up all the time. The
// last word overlaps the one before, so that no load has a size known only at run time.
std::size_t hash_of(std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::size_t size = text.size();
  std::uint64_t hash = size * kOdd;
  auto mix = [&](std::uint64_t bits) {
    hash = (hash ^ bits) * kOdd;
    hash ^= hash >> 29;
  };
  const char* at = text.data();
  if (size >= 8) {
    for (const char* last = at + size - 8; at < last; at += 8) mix(load<std::uint64_t>(at));
    mix(load<std::uint64_t>(text.data() + size - 8));
  } else if (size >= 4) {
    mix(load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4));
  } else {
    mix(load<std::uint8_t>(at) << 16 | load<std::uint8_t>(at + size / 2) << 8 |
        load<std::uint8_t>(at + size - 1));
  }
  return hash ^ (hash >> 32);
}

}  // namespace

void Interned::release(Text* text) {
  text->~Text();
  ::operator delete(text);
}

InternPool::InternPool() : slots_(1024) {}

Interned InternPool::operator()(std::string_view text) {
  if (text.empty()) return {};
  std::size_t hash = hash_of(text);
  std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].text_; at = (at + 1) & mask) {
    const Interned::Text& there = *slots_[at].text_;
    if (there.hash == hash && there.view() == text) return slots_[at];
  }
  void* memory = ::operator new(sizeof(Interned::Text) + text.size());
  auto* made = new (memory) Interned::Text{{1}, static_cast<std::uint32_t>(text.size()), hash};
  std::memcpy(static_cast<void*>(made + 1), text.data(), text.size());
  slots_[at] = Interned(made);
  Interned out = slots_[at];  // held, so that making room cannot drop it
  if (++used_ * 2 > slots_.size()) make_room();
  return out;
}

void InternPool::make_room() {
  std::vector<Interned> kept;
  for (Interned& slot : slots_)
    if (slot.text_ && slot.text_->users.load(std::memory_order_acquire) > 1)
      kept.push_back(std::move(slot));
  std::size_t size = 1024;
  while (size < kept.size() * 4) size *= 2;
  slots_ = std::vector<Interned>(size);
  used_ = kept.size();
  for (Interned& text : kept) {
    std::size_t at = text.text_->hash & (size - 1);
    while (slots_[at].text_) at = (at + 1) & (size - 1);
    slots_[at] = std::move(text);
  }
}

}  // namespace plim::kube
