// Reads lists, which may be long. Only the *_decode.cpp files include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kube/fields_decode.hpp"

namespace plim::kube {

// Reads a list object window by window. A window is small enough that its text and tokens stay in
// the processor's cache between finding the tokens and reading them.
class ListReader : public JsonReader {
 public:
  using JsonReader::JsonReader;

  // `on_item` reads one item. An item that the end of a window cuts off is read once more.
  template <class OnItem>
  Result<ListMeta> list_document(JsonText list, OnItem on_item) {
    ListMeta out;
    auto on_meta = [&](std::string_view key) {
      if (key == "resourceVersion") return text(out.resource_version);
      if (key == "continue") return text(out.continue_token);
      if (key == "remainingItemCount") return integer(out.remaining);
      return true;
    };
    auto on_field = [&](std::string_view key) { return key != "metadata" || object(on_meta); };
    rest_ = list.view();
    PLIM_CHECK(look_at(0, kWindow));
    if (!take('{')) return fail(Code::invalid, "expected a JSON object");
    bool good = true, more = first() != '}';
    for (; good && more; more = good && take_further(','))
      good = at_items() ? list_items(on_item) : whole([&] { return field(on_field); });
    if (good) good = take('}') || wrong("broken JSON: expected , or } in an object");
    if (good) good = at_ == end_ || wrong("broken JSON: more text after the object");
    list_tokens().keep_at_most(4 * kWindow);
    if (!good) return error();
    return out;
  }

  // Calls the visitor with a finished item.
  template <class Visitor, class Item>
  bool hand_over(const Visitor& visit, Item item) {
    auto visited = visit(std::move(item));
    refused_ = !visited;
    return !refused_ || wrong(visited.error().message);
  }

 private:
  bool at_items() const { return key_and_value() && plain_key() == "items"; }

  template <class OnItem>
  bool list_items(OnItem& on_item) {
    at_ += 2;
    if (first() != '[') return null() || wrong("expected a list") || within("items");
    ++at_;
    if (take(']')) return true;
    std::size_t index = 0;
    auto one = [&] {
      const std::uint32_t* item = at_;
      return on_item() && (at_ != item || skip());
    };
    do {
      if (!whole(one)) return within(fmt::format("items[{}]", index));
      ++index;
    } while (take_further(','));
    return take(']') || wrong("broken JSON: expected , or ] in a list") || within("items");
  }

  // Reads something that must be in one window; moves or widens the window for it.
  template <class Read>
  bool whole(Read read) {
    for (;;) {
      const std::uint32_t* start = at_;
      if (read()) return true;
      if (window_ == rest_.size() || refused_) return false;
      forget_error();
      auto looked = look_at(*start, *start == 0 ? 2 * window_ : kWindow);
      if (!looked) return wrong(looked.error().message);
    }
  }

  // Continues in the next window if this one ends here.
  bool take_further(char wanted) {
    if (at_ == end_ && window_ < rest_.size())
      if (auto looked = look_at(window_, kWindow); !looked) return wrong(looked.error().message);
    return take(wanted);
  }

  // Moves the window forward by `skipped` bytes.
  Result<void> look_at(std::size_t skipped, std::size_t at_least) {
    rest_.remove_prefix(skipped);
    at_ = end_ = nullptr;
    TokenIndex& tokens = list_tokens();
    PLIM_TRY(window_, tokens.build_part(rest_, at_least));
    move_to(rest_, tokens);
    return {};
  }

  static constexpr std::size_t kWindow = 256 << 10;

  std::string_view rest_;   // of the list, beginning at the window
  std::size_t window_ = 0;  // bytes of it that the tokens cover
  bool refused_ = false;    // the visitor did not take an item
};

}  // namespace plim::kube
