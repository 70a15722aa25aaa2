// Every policy, one line each.
#include <array>

#include "base/text.h"
#include "policy/berth/berth.h"
#include "policy/drf/drf.h"
#include "policy/fair/fair.h"
#include "policy/fifo/fifo.h"
#include "policy/fifo_backfill/fifo_backfill.h"
#include "policy/gandiva/gandiva.h"
#include "policy/graphene/graphene.h"
#include "policy/hypersched/hypersched.h"
#include "policy/lucid/lucid.h"
#include "policy/mlf_h/mlf_h.h"
#include "policy/mlf_h_literal/mlf_h_literal.h"
#include "policy/optimus/optimus.h"
#include "policy/policy.h"
#include "policy/sjf/sjf.h"
#include "policy/slaq/slaq.h"
#include "policy/smith/smith.h"
#include "policy/srtf/srtf.h"
#include "policy/themis/themis.h"
#include "policy/tiresias/tiresias.h"

namespace berth {
namespace {

constexpr std::array kPolicies = {
    PolicyInfo{"fifo", "first come, first served; the head blocks all behind it", false, make_fifo,
               PublishedSharing::kExclusive, true},
    PolicyInfo{"fifo-backfill", "EASY backfill (Lifka 1995)", false, make_fifo_backfill,
               PublishedSharing::kExclusive, true},
    PolicyInfo{"sjf", "shortest predicted job first, no preemption", true, make_sjf},
    PolicyInfo{"srtf", "shortest remaining predicted time first, preemptive", true, make_srtf},
    PolicyInfo{"smith", "least remaining predicted time x GPUs first, preemptive (Smith 1956)",
               true, make_smith},
    PolicyInfo{"fair", "equal shares between jobs over time (TensorFlow on Borg)", false, make_fair,
               PublishedSharing::kExclusive, true},
    PolicyInfo{"drf", "dominant-resource fairness (Ghodsi et al., NSDI 2011)", false, make_drf},
    PolicyInfo{"themis", "finish-time fairness (Mahajan et al., NSDI 2020)", true, make_themis},
    PolicyInfo{"gandiva", "time slicing, packing that pays, migration (Xiao et al., OSDI 2018)",
               false, make_gandiva, PublishedSharing::kShared},
    PolicyInfo{"graphene", "hard to pack first, least remaining work (Grandl et al., OSDI 2016)",
               true, make_graphene, PublishedSharing::kShared},
    PolicyInfo{"lucid", "packing by sharing score, no preemption (Hu et al., ASPLOS 2023)", true,
               make_lucid, PublishedSharing::kShared},
    PolicyInfo{"tiresias", "discretised 2D least attained service (Gu et al., NSDI 2019)", false,
               make_tiresias},
    PolicyInfo{"tiresias-gittins", "2D Gittins index (Gu et al., NSDI 2019)", false,
               make_tiresias_gittins},
    PolicyInfo{"slaq", "largest predicted drop of the loss first (Zhang et al., SoCC 2017)", false,
               make_slaq},
    PolicyInfo{"optimus",
               "largest marginal gain of one more worker first (Peng et al., EuroSys 2018)", false,
               make_optimus},
    PolicyInfo{"hypersched", "most accuracy gained by its deadline first (Liaw et al., SoCC 2019)",
               false, make_hypersched},
    PolicyInfo{"mlf-h", "MLF-H of MLFS (Wang et al., CoNEXT 2020), made sound", false, make_mlf_h,
               PublishedSharing::kShared},
    PolicyInfo{"mlf-h-literal",
               "MLF-H of MLFS as published, task by task: parts of replicas may deadlock", false,
               make_mlf_h_literal, PublishedSharing::kShared, false, true},
    PolicyInfo{"berth", "of many plans the one in which what runs is worth most (docs/berth.md)",
               false, make_berth, PublishedSharing::kShared},
};

}  // namespace

std::span<const PolicyInfo> all_policies() {
  return kPolicies;
}

Result<const PolicyInfo*> find_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : kPolicies) {
    if (info.name == name) return &info;
    names.push_back(info.name);
  }
  return fail(usage_error(unknown_name("policy", name, names)));
}

}  // namespace berth
