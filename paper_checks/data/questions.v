(* A theorem's hypotheses contradict each other iff the theorem holds with False for its
   conclusion. Sizes start at 2, so that nothing is shown about empty matrices alone. *)
Ltac one_of a b :=
  lazymatch a with
  | False => b
  | _ => lazymatch b with False => a | _ => constr:(a \/ b) end
  end.
Ltac contradiction_of t :=
  let t := eval cbv beta zeta in t in
  lazymatch t with
  | forall n : nat, @?B n =>
      let k := fresh in
      constr:(forall k : nat, ltac:(let c := contradiction_of (B (S (S k))) in exact c))
  | forall x : ?A, @?B x =>
      let y := fresh in
      constr:(forall y : A, ltac:(let c := contradiction_of (B y) in exact c))
  | ?A /\ ?B => let a := contradiction_of A in let b := contradiction_of B in one_of a b
  | and3 ?A ?B ?C => contradiction_of (A /\ (B /\ C))
  | and4 ?A ?B ?C ?D => contradiction_of (A /\ (B /\ (C /\ D)))
  | and5 ?A ?B ?C ?D ?E => contradiction_of (A /\ (B /\ (C /\ (D /\ E))))
  | _ => constr:(False)
  end.
(* The witness fixes leading types and sizes; a size that it leaves open is 2. *)
Ltac refuted_by w :=
  let v := fresh in
  intro v;
  first
    [ unshelve refine (w v)
    | unshelve refine (w (v _))
    | unshelve refine (w (v _ _))
    | unshelve refine (w (v _ _ _))
    | unshelve refine (w (v _ _ _ _))
    | unshelve refine (w (v _ _ _ _ _))
    | unshelve refine (w (v _ _ _ _ _ _))
    | unshelve refine (w (v _ _ _ _ _ _ _))
    | unshelve refine (w (v _ _ _ _ _ _ _ _))
    | unshelve refine (w (v _ _ _ _ _ _ _ _ _))
    | let c := type of v in fail 1 "the witness does not refute" c ];
  exact O.
