// The whole JSON of waiting pods and of nodes, as extenders get it. All other parts use a few
// decoded fields, so the JSON is kept only while an extender needs it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"
#include "kube/store.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// The JSON as kube-scheduler would send it, without the fields that it does not keep.
Result<std::string> text_for_extenders(std::string_view object);

// Belongs to one loop.
class ObjectTexts {
 public:
  explicit ObjectTexts(std::shared_ptr<kube::Client> client) : client_(std::move(client)) {}

  // Drops the texts that are no longer needed.
  void want(bool pods, bool nodes);

  // Codecs that keep the text of decoded objects while it is needed. This object must outlive them.
  kube::Codec<kube::Pod> keeping(kube::Codec<kube::Pod> codec);
  kube::Codec<kube::Node> keeping(kube::Codec<kube::Node> codec);
  void forget_pod(std::string_view uid);
  void forget_node(std::string_view name);

  // Asks the API server for texts that were not kept. Code::not_found if the pod is gone.
  Task<Result<std::string>> pod(PodPointer pod);
  // Only for nodes that still exist.
  Task<Result<std::vector<std::string>>> nodes(std::vector<std::string> names);

 private:
  void keep(const kube::Pod& pod, std::string_view text);
  void keep(const kube::Node& node, std::string_view text);
  Task<Result<void>> list_nodes();

  template <class T>
  kube::Codec<T> wrap(kube::Codec<T> codec, const bool& wanted);

  std::shared_ptr<kube::Client> client_;
  bool want_pods_ = false, want_nodes_ = false;
  kube::TextMap<std::string> pods_, nodes_;  // by uid, by name
};

}  // namespace plim::sched
