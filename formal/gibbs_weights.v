From mathcomp Require Import all_ssreflect all_algebra.
From AttentionGeometry Require Import small_sums powers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem softmax :
  forall (F : numFieldType) (m : nat) (A : pred F) (e : F -> F) (E q : 'I_m -> F) (Z : F),
  (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
  (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
  (forall x y, A x -> A y -> e x = e y -> x = y) ->
  (forall j, 0 < E j) -> Z = \sum_j E j -> (forall j, q j = E j / Z) ->
  forall j,
  [/\ \sum_k q k = 1, q j * Z = E j,
      forall x lambda L, A x -> A lambda -> A L ->
        e x = E j -> e lambda = q j -> e L = Z -> lambda + L = x
    & forall p ell omega phi lambda, A ell -> A phi -> A lambda ->
        e ell = p -> e phi = omega -> e lambda = q j ->
        omega ^+ 2 * p = q j <-> 2%:R * phi + ell = lambda].
Proof.
move=> F m A e E q Z AB e0 eD inj E0 ZE qE j.
have Z0 : 0 < Z.
  rewrite ZE (bigD1 j) //=; apply: lt_le_trans (E0 j) _.
  by rewrite -subr_ge0 addrAC subrr add0r sumr_ge0 // => k _; rewrite ltW.
have AD x y : A x -> A y -> A (x + y).
  move=> Ax Ay; have A0 : A 0 by rewrite -(subrr y); exact: AB.
  by rewrite -[y]opprK; apply: (AB) => //; rewrite -[- y]add0r; exact: AB.
have qZ : q j * Z = E j by rewrite qE divfK // lt0r_neq0.
split=> //.
- by under eq_bigr => k _ do rewrite qE; rewrite -mulr_suml -ZE mulfV // lt0r_neq0.
- move=> x lambda L Ax Al AL ex el eL; apply: inj; rewrite ?AD //.
  by rewrite eD // el eL qZ.
- move=> p ell omega phi lambda Ae Ap Al ee ep el.
  have APP : A (2%:R * phi + ell) by rewrite mulr_natl mulr2n !AD.
  have value : e (2%:R * phi + ell) = omega ^+ 2 * p.
    by rewrite mulr_natl mulr2n !eD ?AD // ep ee expr2.
  by split=> [eq|eq]; [apply: inj; rewrite // value eq|rewrite -value eq].
Qed.

Lemma softmax_witness :
  ~ (forall (A : pred rat) (e : rat -> rat) (E q : 'I_2 -> rat) (Z : rat),
     (forall x y, A x -> A y -> A (x - y)) -> (forall x, A x -> 0 < e x) ->
     (forall x y, A x -> A y -> e (x + y) = e x * e y) ->
     (forall x y, A x -> A y -> e x = e y -> x = y) ->
     (forall j, 0 < E j) -> Z = \sum_j E j -> (forall j, q j = E j / Z) ->
     forall j : 'I_2,
     (forall x lambda L, A x -> A lambda -> A L ->
        e x = E j -> e lambda = q j -> e L = Z -> False)
     \/ (forall p ell omega phi lambda, A ell -> A phi -> A lambda ->
           e ell = p -> e phi = omega -> e lambda = q j -> False)).
Proof.
move=> /(_ whole power (fun=> 1) (fun=> 2%:R^-1) 2%:R wholeB power_gt0 powerD power_inj) no.
case: (no _ _ _ 0) => [//|||/(_ 0 (-1) 1)|/(_ 1 0 1 0 (-1))].
- by rewrite sum2.
- by move=> j; rewrite mul1r.
- by apply.
- by apply.
Qed.

Lemma double_step (F : fieldType) (p u c : F) :
  (1 + p * u + c) ^+ 2 = 1 + 2%:R * p * u + (2%:R * c + (p * u + c) ^+ 2).
Proof.
rewrite -(addrA 1) sqrrD expr1n mul1r -(mulr_natl (p * u + c) 2) mulrDr mulrA.
by rewrite -!addrA.
Qed.

Theorem elementary :
  (forall (F : realFieldType) (u : F) (c : nat -> F),
     c 1%N = u ^+ 2 ->
     (forall L, (0 < L)%N -> c L.+1 = 2%:R * c L + (2%:R ^+ L * u + c L) ^+ 2) ->
     forall L, (0 < L)%N -> (1 + u) ^+ (2 ^ L) = 1 + 2%:R ^+ L * u + c L /\ 0 <= c L)
  /\ (forall (F : realFieldType) (t : F),
      (forall L, (0 < L)%N -> 1 + t <= (1 + t / 2%:R ^+ L) ^+ (2 ^ L))
      /\ forall x : F,
         (forall eps, 0 < eps -> exists L0 : nat, forall L : nat, (L0 <= L)%N ->
            `|(1 + t / 2%:R ^+ L) ^+ (2 ^ L) - x| < eps) -> 1 + t <= x).
Proof.
have powers (F : realFieldType) (u : F) (c : nat -> F) : c 1%N = u ^+ 2 ->
     (forall L, (0 < L)%N -> c L.+1 = 2%:R * c L + (2%:R ^+ L * u + c L) ^+ 2) ->
     forall L, (0 < L)%N -> (1 + u) ^+ (2 ^ L) = 1 + 2%:R ^+ L * u + c L /\ 0 <= c L.
  move=> c1 cS; case=> // L _; elim: L => [|L [IH c0]].
    by rewrite c1 sqr_ge0 sqrrD mul1r expr1n mulr_natl.
  rewrite cS //; split; last first.
    by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n.
  by rewrite expnSr exprM IH double_step [2%:R ^+ L.+2]exprS.
split=> // F t.
have below L : (0 < L)%N -> 1 + t <= (1 + t / 2%:R ^+ L) ^+ (2 ^ L).
  move=> L0; set u := t / _.
  pose c := fix c k := if k is k'.+1 then
    if k' is 0%N then u ^+ 2 else 2%:R * c k' + (2%:R ^+ k' * u + c k') ^+ 2 else 0.
  have [] := powers F u c _ _ L L0 => // [|-> c0]; first by case.
  rewrite [2%:R ^+ L * u]mulrC divfK ?expf_neq0 ?pnatr_eq0 //.
  by rewrite -subr_ge0 (addrC (1 + t)) addrK.
split=> // x tends; rewrite leNgt; apply/negP => lt.
have [|L0 near] := tends (1 + t - x); first by rewrite subr_gt0.
have := near L0.+1 (leqnSn L0); rewrite ltr_norml => /andP[_].
rewrite ltNge -[X in ~~ X]subr_ge0 opprB addrA subrK subr_ge0 => /negP; apply.
exact: below.
Qed.

Lemma elementary_witness :
  ~ ((forall (F : realFieldType) (u : F) (c : nat -> F),
        c 1%N = u ^+ 2 ->
        (forall L, (0 < L)%N -> c L.+1 = 2%:R * c L + (2%:R ^+ L * u + c L) ^+ 2) ->
        forall L, (0 < L.+2)%N -> False)
     \/ (forall (F : realFieldType) (t : F),
         (forall L, (0 < L.+2)%N -> False)
         \/ (forall x : F,
             (forall eps, 0 < eps -> exists L0 : nat, forall L : nat, (L0 <= L)%N ->
                `|(1 + t / 2%:R ^+ L) ^+ (2 ^ L) - x| < eps) -> False))).
Proof.
case=> [/(_ real_rationals 0 (fun=> 0)) no | /(_ real_rationals 0) [/(_ 0%N isT) //|/(_ 1) no]].
  apply: (no _ _ 0%N) => [|L _|]; rewrite ?expr0n //.
  by rewrite !mulr0 !add0r expr0n.
by apply: no => eps eps0; exists 0%N => L _; rewrite mul0r addr0 expr1n subrr normr0.
Qed.
