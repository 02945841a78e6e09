#include "kube/interned.hpp"

#include <algorithm>
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

// Loads a whole text of one to seven bytes. Here and below loads overlap, so that each has a size
// known at compile time.
std::uint64_t load_short(const char* at, std::size_t size) {
  if (size >= 4) return load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4);
  return load<std::uint8_t>(at) << 16 | load<std::uint8_t>(at + size / 2) << 8 |
         load<std::uint8_t>(at + size - 1);
}

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Multiplies and folds sixteen bytes at a time: texts are short, and look-ups are frequent.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15, kOther = 0xd6e8feb86659fd93;
  const char* at = text.data();
  const char* end = at + text.size();
  std::uint64_t hash = text.size() * kOdd;
  auto mix = [&](std::uint64_t a, std::uint64_t b) { hash = fold(a ^ kOther, b ^ hash); };
  if (text.size() < 8) {
    mix(load_short(at, text.size()), kOdd);
  } else {
    for (; end - at > 16; at += 16) mix(load<std::uint64_t>(at), load<std::uint64_t>(at + 8));
    mix(load<std::uint64_t>(std::min(at, end - 8)), load<std::uint64_t>(end - 8));
  }
  return static_cast<std::uint32_t>(hash);
}

// For these short texts a call of memcmp would cost more than the comparison.
bool same(std::string_view a, std::string_view b) {
  std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size < 8) return load_short(a.data(), size) == load_short(b.data(), size);
  for (std::size_t at = 0; at + 8 < size; at += 8)
    if (load<std::uint64_t>(a.data() + at) != load<std::uint64_t>(b.data() + at)) return false;
  return load<std::uint64_t>(a.data() + size - 8) == load<std::uint64_t>(b.data() + size - 8);
}

}  // namespace

void Interned::release(Text* text) {
  text->~Text();
  ::operator delete(text);
}

InternPool::InternPool() : slots_(1024) {}

InternPool::~InternPool() {
  for (const Slot& slot : slots_)
    if (slot.text &&
        slot.text->users.fetch_sub(slot.shares, std::memory_order_acq_rel) == slot.shares)
      Interned::release(slot.text);
}

Interned InternPool::operator()(std::string_view text) {
  if (text.empty()) return {};
  std::uint32_t hash = hash_of(text);
  std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].text; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.hash != hash || !same(slot.text->view(), text)) continue;
    if (slot.shares == 1) {
      slot.text->users.fetch_add(kShares, std::memory_order_relaxed);
      slot.shares += kShares;
    }
    --slot.shares;
    return Interned(slot.text);
  }
  void* memory = ::operator new(sizeof(Interned::Text) + text.size());
  auto* made = new (memory) Interned::Text{{1 + kShares}, static_cast<std::uint32_t>(text.size())};
  std::memcpy(static_cast<void*>(made + 1), text.data(), text.size());
  slots_[at] = {hash, kShares, made};
  if (++used_ * 2 > slots_.size()) make_room();
  return Interned(made);
}

void InternPool::make_room() {
  std::vector<Slot> kept;
  for (const Slot& slot : slots_) {
    if (!slot.text) continue;
    if (slot.text->users.load(std::memory_order_acquire) > slot.shares)
      kept.push_back(slot);
    else
      Interned::release(slot.text);
  }
  std::size_t size = 1024;
  while (size < kept.size() * 4) size *= 2;
  slots_.assign(size, {});
  used_ = kept.size();
  for (const Slot& slot : kept) {
    std::size_t at = slot.hash & (size - 1);
    while (slots_[at].text) at = (at + 1) & (size - 1);
    slots_[at] = slot;
  }
}

}  // namespace plim::kube
