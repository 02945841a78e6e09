// From the bytes an API server sent to the structs of kube/types.hpp, in one pass without a tree.
// Unknown fields are skipped, null counts as absent; a field of the wrong type is an error that
// names it: "spec.containers[1].image: expected a string".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "kube/types.hpp"

namespace plim::kube {

// JSON that is followed by readable memory, which the parser's wide loads need. A slice of such a
// text is one too. Refers to the buffer, which must stay as it is.
class JsonText {
 public:
  static constexpr std::size_t kPadding = 64;

  // Makes the room behind `buffer`; free when its capacity has it already.
  explicit JsonText(std::string& buffer) {
    buffer.reserve(buffer.size() + kPadding);
    text_ = buffer;
  }

  std::string_view view() const { return text_; }

  // `part` must lie in this text.
  JsonText slice(std::string_view part) const { return JsonText(part); }

 private:
  explicit JsonText(std::string_view text) : text_(text) {}

  std::string_view text_;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::int64_t remaining = 0;
};

// Gets every item in order, in the place where it was decoded: pods are too large to move around.
// Its error ends the walk and is handed back. Must not decode a list itself.
template <class T>
using Visit = std::function<Result<void>(std::shared_ptr<const T> item)>;
using VisitText = std::function<Result<void>(JsonText item)>;

Result<Pod> decode_pod(JsonText text, InternPool& pool);
Result<ListMeta> decode_pods(JsonText list, InternPool& pool, const Visit<Pod>& visit);
Result<Node> decode_node(JsonText text, InternPool& pool);
Result<ListMeta> decode_nodes(JsonText list, InternPool& pool, const Visit<Node>& visit);
// Any object's metadata, for caches that need no more.
Result<ObjectMeta> decode_meta(JsonText text, InternPool& pool);
// Any list, its items as they stand.
Result<ListMeta> decode_list(JsonText list, const VisitText& visit);

// What a cache of T needs to know about its JSON.
template <class T>
struct Codec {
  std::function<Result<T>(JsonText object)> one;
  std::function<Result<ListMeta>(JsonText list, const Visit<T>& visit)> list;
};

// The pool must outlive them.
Codec<Pod> pod_codec(InternPool& pool);
Codec<Node> node_codec(InternPool& pool);
Codec<ObjectMeta> meta_codec(InternPool& pool);

// From a decoder of single objects; `one` sees every item of a list too.
template <class T>
Codec<T> codec_of(std::function<Result<T>(JsonText object)> one) {
  auto list = [one](JsonText text, const Visit<T>& visit) {
    return decode_list(text, [&](JsonText item) -> Result<void> {
      PLIM_TRY(T made, one(item));
      return visit(std::make_shared<const T>(std::move(made)));
    });
  };
  return {std::move(one), std::move(list)};
}

struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark, error };

  Type type = Type::error;
  std::string_view object;          // its JSON, inside the text that was decoded
  std::string resource_version;     // of the object; "" for errors
  bool initial_events_end = false;  // a bookmark that closes a WatchList's first part
  Error error = {};                 // of an ERROR event's Status
};

Result<WatchEvent> decode_watch_event(JsonText text);

}  // namespace plim::kube
